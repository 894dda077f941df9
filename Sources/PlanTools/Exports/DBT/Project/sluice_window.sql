{# The first day of the window. #}
{% macro sluice_since() %}
  {% do return(sluice_day('sluice_since', -(var('sluice_days') | int))) %}
{% endmacro %}

{# The first day after the window. #}
{% macro sluice_until() %}
  {% do return(sluice_day('sluice_until', 1)) %}
{% endmacro %}

{# A variable's day, or else the day that is this many days from today. #}
{% macro sluice_day(variable, days) %}
  {% set stated = var(variable) | string %}
  {% if stated %}
    {% do modules.datetime.datetime.strptime(stated, '%Y-%m-%d') %}
    {% do return(stated) %}
  {% endif %}
  {% set today = run_started_at.astimezone(modules.pytz.timezone(var('sluice_timezone'))) %}
  {% do return((today + modules.datetime.timedelta(days=days)).strftime('%Y-%m-%d')) %}
{% endmacro %}

{# Whether a time is in the window. The bounds are constants, with which PostgreSQL opens only the partitions of the
   window; with now(), it would lock all of them. #}
{% macro sluice_in_window(column) %}
  {%- set zone = sluice_literal(var('sluice_timezone')) -%}
  {{ column }} >= timestamp '{{ sluice_since() }}' at time zone {{ zone }}
    and {{ column }} < timestamp '{{ sluice_until() }}' at time zone {{ zone }}
{%- endmacro %}

{# A time as its day in the time zone. #}
{% macro sluice_local_day(column) %}({{ column }} at time zone {{ sluice_literal(var('sluice_timezone')) }})::date{% endmacro %}

{% macro sluice_literal(text) %}'{{ text | replace("'", "''") }}'{% endmacro %}
