with events as (
  {{ sluice_events() }}
),

marked as (
  select
    *,
    case
      when occurred_at - lag(occurred_at) over (partition by person order by occurred_at, id)
        <= interval '{{ var('sluice_session_minutes') | int }} minutes' then 0
      else 1
    end as begins
  from events
),

numbered as (
  select *, sum(begins) over (partition by person order by occurred_at, id) as number
  from marked
)

select
  person,
  min(occurred_at) as started_at,
  max(occurred_at) as ended_at,
  count(distinct id) as events,
  (array_agg(event order by occurred_at, id, event))[1] as first_event,
  (array_agg(event order by occurred_at desc, id desc, event desc))[1] as last_event
from numbered
group by person, number
