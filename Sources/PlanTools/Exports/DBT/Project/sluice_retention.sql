with events as (
  {{ sluice_events() }}
),

active_weeks as (
  select distinct person, date_trunc('week', {{ sluice_local_day('occurred_at') }}::timestamp)::date as week
  from events
),

with_cohort as (
  select person, week, min(week) over (partition by person) as cohort
  from active_weeks
),

cohorts as (
  select cohort, count(distinct person) as people
  from with_cohort
  group by cohort
),

last_week as (
  select date_trunc('week', (date '{{ sluice_until() }}' - 1)::timestamp)::date as week
)

select
  cohorts.cohort,
  weeks_later,
  cohorts.people as cohort_people,
  count(with_cohort.person) as people
from cohorts
cross join last_week
cross join lateral generate_series(0, (last_week.week - cohorts.cohort) / 7) weeks (weeks_later)
left join with_cohort
  on with_cohort.cohort = cohorts.cohort and with_cohort.week = cohorts.cohort + 7 * weeks_later
group by cohorts.cohort, weeks_later, cohorts.people
