{# Finds values outside a property's limits; either may be absent. #}
{% test sluice_between(model, column_name, least=none, greatest=none) %}
select {{ column_name }}
from {{ model }}
where {{ column_name }} {% if least is none -%} > {{ greatest }}
    {%- elif greatest is none -%} < {{ least }}
    {%- else -%} not between {{ least }} and {{ greatest }}
    {%- endif %}
{% endtest %}

{# Finds texts whose length, in code points, is outside a property's limits; either may be absent. #}
{% test sluice_length_between(model, column_name, least=none, greatest=none) %}
select {{ column_name }}
from {{ model }}
where length({{ column_name }}) {% if least is none -%} > {{ greatest }}
    {%- elif greatest is none -%} < {{ least }}
    {%- else -%} not between {{ least }} and {{ greatest }}
    {%- endif %}
{% endtest %}

{# Finds rows that share the values of several columns. #}
{% test sluice_unique_together(model, columns) %}
select {{ columns | join(', ') }}
from {{ model }}
group by {{ columns | join(', ') }}
having count(*) > 1
{% endtest %}
