#!/usr/bin/env bash
# Measures Sluice and what it is compared with in the same run, prints a table and writes Benchmarks/results.json.
#
#   scripts/bench.sh [ROW…]       Default: all rows
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/packages.sh
source scripts/lib/postgres.sh

readonly ceilings=$PWD/.run/bench/ceilings

build_ceilings() {
    mkdir -p "$ceilings"
    make -s -C Benchmarks/Ceilings OUT="$ceilings"
}

build_ceilings
swift build -c release --product sluice
swift build -c release --product event-codegen
# The benchmark compiles generated code, which imports Sluice.
swift build -c release --target Sluice
in_package Benchmarks build -c release
trap postgres_stop EXIT
trap 'exit 130' INT TERM

# Debian's settings, but with room for the write-ahead log of a whole round, so that no checkpoint slows down one side,
# and with locks for the removal of all partitions at once.
postgres_start "$PWD/.run/postgres-bench" max_wal_size=8GB checkpoint_timeout=1h max_locks_per_transaction=1024
.build/release/bench "$@" --ceilings "$ceilings" --postgres "$postgres_url"
