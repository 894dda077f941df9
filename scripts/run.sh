#!/usr/bin/env bash
# Starts Sluice with the console tracker, sends it a few events, and stays up until Ctrl-C.
#
#   PORT=8080 scripts/run.sh
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/retail.sh
source scripts/lib/sluice.sh

address=127.0.0.1:${PORT:-8080}
url=http://$address/v1/events

# An event whose quantity is not a number that can be sold: the plan in events/retail.plist says so.
wrong='{"name":"Item Purchased","payload":{"invoiceNo":"536365","stockCode":"85123A","quantity":0,"unitPrice":2.55,"country":"United Kingdom"}}'

require_free "$address" run
sluice_build
end_with serve_stop

say "Starting sluice serve. Events go to $url; rejected ones are kept in .run/quarantine"
serve_start "$address"

say "Sending three real events (1 December 2010, a British web shop):"
retail_lines | sed -n 1,3p \
    | curl -sS "$url" -H 'Content-Type: application/x-ndjson' --data-binary @-
echo
sleep 0.3

say "Sending a wrong one; the verdict says what is wrong with it, and where the plan says so:"
printf '%s' "$wrong" | curl -sS "$url" -H 'Content-Type: application/json' --data-binary @-
echo

say "It is your turn. In another terminal:"
cat <<EOF
  curl $url -H 'Content-Type: application/json' \\
    -d '{"name":"Item Returned","payload":{"invoiceNo":"C536379","stockCode":"85123A","quantity":1,"unitPrice":2.55,"country":"France"}}'
  $sluice replay $retail_day
Ctrl-C ends it.

EOF
wait "$serve_pid"
