{{ config(enabled=(var('sluice_funnel') | length >= 2)) }}
{# For each event, the latest start of a chain of the steps before it: the later a chain starts, the shorter it is. The
   frames end a microsecond earlier, because an event does not follow itself or one of the same time. #}
{% set steps = var('sluice_funnel') %}
with events as (
  {{ sluice_events(steps | unique | list) }}
),

after_1 as (
  select person, event, occurred_at, case when event = {{ sluice_literal(steps[0]) }} then occurred_at end as start_1
  from events
),
{% for step in steps[1:] %}
after_{{ loop.index + 1 }} as (
  select
    *,
    case
      when event = {{ sluice_literal(step) }} then max(start_{{ loop.index }}) over (
        partition by person
        order by occurred_at
        range between unbounded preceding and interval '1 microsecond' preceding
      )
    end as start_{{ loop.index + 1 }}
  from after_{{ loop.index }}
),
{% endfor %}
steps as (
  {% for step in steps %}
  select
    {{ loop.index }} as step,
    {{ sluice_literal(step) }}::text as event,
    count(distinct person) as people
  from after_{{ steps | length }}
  where occurred_at - start_{{ loop.index }} <= interval '{{ var('sluice_funnel_minutes') | int }} minutes'
  {% if not loop.last %}union all{% endif %}
  {% endfor %}
)

select step, event, people
from steps
