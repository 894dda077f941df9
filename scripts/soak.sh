#!/usr/bin/env bash
# Runs a release build under honest senders and attackers for MINUTES, with a private PostgreSQL; fails if memory or open files
# grow, an honest sender gets a wrong answer, or an accepted event is missing.
#
#   scripts/soak.sh MINUTES
#
# SLUICE_PROGRAM is the program to run. Default: builds it.
set -euo pipefail
cd "$(dirname "$0")/.."
# Read first, because the library removes the user's settings.
program=${SLUICE_PROGRAM:-}
source scripts/lib/sluice.sh
source scripts/lib/postgres.sh

if [[ -z $program ]]; then
    sluice_build
    program=$sluice
fi
trap postgres_stop EXIT
mkdir -p .run
postgres_start "$PWD/.run/postgres-soak"
"$program" migrate --postgres "$postgres_url" --events events
python3 scripts/soak.py "$program" "${1:?MINUTES}" "$postgres_url"
