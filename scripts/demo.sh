#!/usr/bin/env bash
# Migrates a private PostgreSQL, serves one event, replays one real day, and queries the tables.
#
#   PORT=8080 scripts/demo.sh
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/retail.sh
source scripts/lib/sluice.sh
source scripts/lib/postgres.sh

address=127.0.0.1:${PORT:-8080}

stop_all() {
    serve_stop || true
    postgres_stop
}

# ask QUESTION SQL: prints the answer as a table.
ask() {
    say "$1"
    psql -X -q -P footer=off -P linestyle=unicode -P border=1 "$postgres_url" -c "$2"
}

count_rows() {
    psql -X -At "$postgres_url" -c "
        select 'rows now: ' || (select count(*) from analytics.item_purchased) || ' purchases, '
            || (select count(*) from analytics.item_returned) || ' returns'"
}

require_free "$address" demo
phase "Setup" .run/setup.log scripts/setup.sh demo
sluice_build
end_with stop_all

say "Starting a private PostgreSQL under .run/"
mkdir -p .run
postgres_start "$PWD/.run/postgres"

say "Creating the tables of the plan"
show "$sluice" migrate --postgres "$postgres_url" --events events

say "Serving, and sending one event over HTTP"
journal=.run/journal-demo
rm -rf "$journal"
serve_start "$address" --postgres "$postgres_url" --no-console --log-level error
curl -sS "http://$address/v1/events" -H 'Content-Type: application/json' --data-binary @- <<'EOF'
{"name":"Item Purchased","userId":"demo","payload":{"invoiceNo":"536365","stockCode":"85123A","quantity":1,"unitPrice":2.55,"country":"United Kingdom"}}
EOF
echo
serve_stop

say "Making the tables' months since December 2010, when the real day was"
"$sluice" maintain --postgres "$postgres_url" --events events --since 2010-12 | tail -n 2
replay=("$sluice" replay "$retail_day" --events events --postgres "$postgres_url" --to postgres
    --quarantine .run/quarantine --log-level error)
say "Replaying one real day"
show "${replay[@]}"
count_rows
say "Replaying it again: no row is stored twice"
"${replay[@]}"
count_rows

ask "What sold best?" "
    select description as item, sum(quantity) as pieces, sum(quantity * unit_price)::numeric(12, 2) as pounds
    from analytics.item_purchased group by description order by pieces desc limit 5"
ask "Where did the money come from?" "
    select country, count(distinct invoice_no) as orders, sum(quantity * unit_price)::numeric(12, 2) as pounds
    from analytics.item_purchased group by country order by pounds desc"
ask "How often did customers come back on the same day, after a pause of more than half an hour?" "
    with marked as (
        select user_id, case when occurred_at - lag(occurred_at) over (partition by user_id order by occurred_at)
            <= interval '30 minutes' then 0 else 1 end as begins
        from analytics.item_purchased
        where occurred_at >= timestamptz '2010-12-01 00:00+00' and occurred_at < timestamptz '2010-12-02 00:00+00'
    ), visits as (select user_id, sum(begins) as sessions from marked where user_id is not null group by user_id)
    select sessions, count(*) as customers from visits group by sessions order by sessions"
ask "What was returned, and was it sold on the same day?" "
    select r.description as item, sum(r.quantity) as returned, coalesce(max(p.pieces), 0) as sold
    from analytics.item_returned r
    left join (select stock_code, sum(quantity) as pieces from analytics.item_purchased group by stock_code) p
        using (stock_code)
    group by r.description order by returned desc limit 5"
