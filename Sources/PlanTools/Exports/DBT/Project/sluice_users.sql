{# The least and the greatest user of an anonymous id are equal if it is seen with exactly one; NULL does not count. #}
with events as (
  {{ sluice_rows() }}
)

select
  anonymous_id,
  min(user_id) as user_id,
  min(occurred_at) as first_seen_at,
  max(occurred_at) as last_seen_at
from events
where anonymous_id is not null
group by anonymous_id
having min(user_id) = max(user_id)
