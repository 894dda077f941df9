{# The events of the window that have a person, as a query with the columns event, id, person and occurred_at.

   A person is the user id, or else the user of the anonymous id in sluice_users, or else the anonymous id. `names` are
   names of the plan's events; none stands for all of them. #}
{% macro sluice_events(names=none) %}
  select
    event,
    id,
    coalesce(identified.user_id, users.user_id, identified.anonymous_id) as person,
    occurred_at
  from (
    {{ sluice_rows(names) }}
  ) identified
  left join {{ ref('sluice_users') }} users on users.anonymous_id = identified.anonymous_id
{%- endmacro %}

{# The same events as a query with the columns event, id, user_id, anonymous_id and occurred_at. #}
{% macro sluice_rows(names=none) %}
  {%- set tables = sluice_tables() -%}
  {%- for name in names or tables -%}
    {%- if name not in tables -%}
      {% do exceptions.raise_compiler_error(
          "The plan has no event '" ~ name ~ "' with a table; there are: " ~ (tables | join(', ')) ~ "."
      ) %}
    {%- endif %}
    select {{ sluice_literal(name) }}::text as event, id, user_id, anonymous_id, occurred_at
    from {{ source('sluice', tables[name]) }}
    where {{ sluice_in_window('occurred_at') }}
      and coalesce(user_id, anonymous_id) is not null
    {% if not loop.last %}union all{% endif %}
  {%- endfor %}
{%- endmacro %}
