{# A person who is active on a day counts on this day and the following ones, up to the length of the period or to their
   next active day, from which on that one counts. So nobody counts twice, and each day of a person is read once. #}
with events as (
  {{ sluice_events() }}
),

active_days as (
  select distinct person, {{ sluice_local_day('occurred_at') }} as day
  from events
),

spans as (
  select day, lead(day) over (partition by person order by day) as next_day
  from active_days
),

changes as (
  select period, day, 1 as change
  from spans cross join (values (1), (7), (30)) periods (period)
  union all
  select period, least(day + period, next_day), -1
  from spans cross join (values (1), (7), (30)) periods (period)
),

totals as (
  select
    day,
    sum(coalesce(sum(change) filter (where period = 1), 0)) over (order by day) as daily,
    sum(coalesce(sum(change) filter (where period = 7), 0)) over (order by day) as weekly,
    sum(coalesce(sum(change) filter (where period = 30), 0)) over (order by day) as monthly
  from (
    select period, day, change from changes
    union all
    select null, date '{{ sluice_since() }}' + number, 0
    from generate_series(0, date '{{ sluice_until() }}' - date '{{ sluice_since() }}' - 1) days (number)
  ) with_all_days
  group by day
)

select
  day,
  daily::bigint as daily,
  case when day >= date '{{ sluice_since() }}' + 6 then weekly::bigint end as weekly,
  case when day >= date '{{ sluice_since() }}' + 29 then monthly::bigint end as monthly
from totals
where day < date '{{ sluice_until() }}'
