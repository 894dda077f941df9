#!/usr/bin/env bash
# Starts Sluice with the console tracker, sends it a few events, and runs until Ctrl-C.
#
#   PORT=8080 scripts/run.sh
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/retail.sh
source scripts/lib/sluice.sh

address=127.0.0.1:${PORT:-8080}
url=http://$address/v1/events
admin=127.0.0.1:$((${PORT:-8080} + 1))

# Its quantity is less than the minimum in events/retail.plist.
wrong='{"name":"Item Purchased","payload":{"invoiceNo":"536365","stockCode":"85123A","quantity":0,"unitPrice":2.55,"country":"United Kingdom"}}'

require_free "$address" run
require_free "$admin" run
# The output of the first two is in .run.
phase "Setup" .run/setup.log scripts/setup.sh
sluice_build
end_with serve_stop

# The real events are from 2010, and older than events may usually be.
export SLUICE_EVENTS_MAXIMUM_AGE_DAYS=36500
start=$(microseconds)
serve_start "$address"
printf '%-12s … ' "Start"
elapsed "$start"

start=$(microseconds)
answer=$(retail_lines | sed -n 1,3p | curl -sS "$url" -H 'Content-Type: application/x-ndjson' --data-binary @-)
printf '%-12s … ' "First event"
elapsed "$start"

say "sluice serve accepts events at $url, and keeps rejected ones in .run/quarantine."
say "The dashboard is at http://$admin/"
say "It accepted three real events (1 December 2010, a British web shop):"
printf '%s\n' "$answer"
# The console tracker prints them within 100 ms.
sleep 0.3

say "It rejects an invalid one; the answer says what is wrong, and which line of the plan requires it:"
printf '%s' "$wrong" | curl -sS "$url" -H 'Content-Type: application/json' --data-binary @-
echo

say "Your turn. In another terminal:"
cat <<EOF
  curl $url -H 'Content-Type: application/json' \\
    -d '{"name":"Item Returned","payload":{"invoiceNo":"C536379","stockCode":"85123A","quantity":1,"unitPrice":2.55,"country":"France"}}'
  $sluice replay $retail_day
  curl http://$admin/metrics
Ctrl-C stops the server.

EOF
wait "$serve_pid"
