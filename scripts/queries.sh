#!/usr/bin/env bash
# Runs typical queries of analysts on a table with the key `id` and no other index, and on one that `sluice migrate` makes, and prints the
# median times. Both have the same generated rows: 250 for each user, evenly over 11 months. The query plans are in .run/queries.
#
#   scripts/queries.sh [MILLIONS]    how many rows each table has, in millions; 1 million take about 0.6 GB. Default: 1
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/sluice.sh
source scripts/lib/postgres.sh

readonly rows=$((${1:-1} * 1000000))
readonly plans=$PWD/.run/queries
readonly first="timestamptz '2025-01-01 00:00+00'" last="timestamptz '2025-12-01 00:00+00'"
# Constants, because PostgreSQL then needs to lock only the partitions between them.
readonly hour="timestamptz '2025-11-30 23:00+00'" day="timestamptz '2025-09-15 00:00+00'" week="timestamptz '2025-09-22 00:00+00'"
readonly month="timestamptz '2025-10-15 00:00+00'" eighth_week="timestamptz '2025-11-10 00:00+00'"
readonly runs=3

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$postgres_url" "$@"; }

# make_tables: makes the tables of both layouts in the schemas `plain` and `months`, with the same rows.
make_tables() {
    local layout partitions
    for layout in plain:none months:month; do
        partitions=${layout#*:} layout=${layout%:*}
        SLUICE_POSTGRES_PARTITIONS=$partitions "$sluice" migrate --postgres "$postgres_url" --schema "$layout" --events events >/dev/null
    done
    "$sluice" maintain --postgres "$postgres_url" --schema months --events events --since 2025-01 >/dev/null
    sql <<SQL
-- As a bulk load does: the key is built afterwards.
alter table plain.item_purchased drop constraint item_purchased_pkey;
insert into months.item_purchased
    (id, occurred_at, received_at, user_id, invoice_no, stock_code, description, quantity, unit_price, country)
select md5(i::text)::uuid, time, time, (abs(hashint8(i)::bigint) % ($rows / 250))::text, (i / 20)::text,
    'A' || (power(random(), 3) * 3000)::int, 'an article with a name of usual length', 1 + i % 12, (i % 900) / 100.0, 'United Kingdom'
from generate_series(1, $rows) i, lateral (select $first + ($last - $first) * (i::float8 / ($rows + 1)) as time) times;
insert into plain.item_purchased select * from months.item_purchased;
alter table plain.item_purchased add primary key (id);
vacuum (analyze) plain.item_purchased;
vacuum (analyze) months.item_purchased;
SQL
}

# run_query LAYOUT NAME SQL: runs a query, prints how many milliseconds it took, and keeps its plan.
run_query() {
    local plan=$plans/$2-$1.json
    sql -c "set search_path = $1" -c "explain (analyze, buffers, timing off, format json) $3" >"$plan"
    python3 -c 'import json, sys; plan = json.load(sys.stdin)[0]; print(plan["Planning Time"] + plan["Execution Time"])' <"$plan"
}

# median VALUE…: prints the median of an odd number of values.
median() { printf '%s\n' "$@" | sort -g | sed -n "$((($# + 1) / 2))p"; }

# compare NAME SQL: runs a query on both layouts in turn, and prints the medians in milliseconds.
compare() {
    local run of_plain=() of_months=()
    for ((run = 0; run < runs; run++)); do
        of_plain+=("$(run_query plain "$1" "$2")")
        of_months+=("$(run_query months "$1" "$2")")
    done
    printf '%-10s %12.1f %12.1f\n' "$1" "$(median "${of_plain[@]}")" "$(median "${of_months[@]}")"
}

scripts/setup.sh demo
sluice_build
end_with postgres_stop
postgres_start "$PWD/.run/postgres-queries" max_wal_size=16GB maintenance_work_mem=1GB shared_buffers=4GB
mkdir -p "$plans"
make_tables
echo "rows: $(sql -c 'select count(*) from plain.item_purchased'), $(sql -c 'select count(*) from months.item_purchased')"
printf '%-10s %12s %12s\n' 'ms' 'key (id)' 'months'
compare hour "select count(*), sum(quantity) from item_purchased
    where occurred_at >= $hour and occurred_at < $last"
compare top "select stock_code, sum(quantity) from item_purchased
    where occurred_at >= $day and occurred_at < $week group by 1 order by 2 desc limit 10"
compare history "select * from item_purchased where user_id = '1234' order by occurred_at desc limit 100"
compare funnel "select count(distinct a.user_id) from item_purchased a join item_purchased b
    on b.user_id = a.user_id and b.occurred_at > a.occurred_at and b.occurred_at <= a.occurred_at + interval '1 hour'
    where a.stock_code = 'A1000' and a.occurred_at >= $day and a.occurred_at < $week
    and b.occurred_at >= $day and b.occurred_at < $week"
compare actives "select date_trunc('day', occurred_at), count(distinct user_id) from item_purchased
    where occurred_at >= $day and occurred_at < $month group by 1"
compare retention "select cohort, week, count(*) from (select user_id, week, min(week) over (partition by user_id) as cohort
    from (select distinct user_id, date_trunc('week', occurred_at) as week from item_purchased
    where occurred_at >= $day and occurred_at < $eighth_week) weeks) cohorts group by 1, 2"
compare id "select * from item_purchased where id = md5('123456')::uuid"
