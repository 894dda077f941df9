{# The events of the window that have a person, as a query with the columns event, id, person and occurred_at.

   `names` are names of the plan's events; none stands for all of them. #}
{% macro sluice_events(names=none) %}
  {%- set tables = sluice_tables() -%}
  {%- for name in names or tables -%}
    {%- if name not in tables -%}
      {% do exceptions.raise_compiler_error(
          "The plan has no event '" ~ name ~ "' with a table; there are: " ~ (tables | join(', ')) ~ "."
      ) %}
    {%- endif %}
    select {{ sluice_literal(name) }}::text as event, id, coalesce(user_id, anonymous_id) as person, occurred_at
    from {{ source('sluice', tables[name]) }}
    where {{ sluice_in_window('occurred_at') }}
      and coalesce(user_id, anonymous_id) is not null
    {% if not loop.last %}union all{% endif %}
  {%- endfor %}
{%- endmacro %}
