#!/usr/bin/env bash
# Fuzzes the readers with libFuzzer and AddressSanitizer. Inputs that break them are stored in .run/fuzz/findings.
#
#   scripts/fuzz.sh [SECONDS]     how long the targets run, in parallel. Default: 30
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/packages.sh
source scripts/lib/phase.sh
source scripts/lib/retail.sh

seconds=${1:-30}
run=$PWD/.run/fuzz

# The seeds are small plans and a few real events; a run adds the inputs that reach new code.
make_seeds() {
    mkdir -p "$run/plan-reader" "$run/event-check" "$run/findings"
    cp Fuzz/Seeds/*.plist "$run/plan-reader/"
    retail_lines | sed -n '1~200p' | split -l 1 -a 3 - "$run/event-check/retail-"
}

# The option --sanitize=fuzzer leaves the entry point to libFuzzer; the flags after it add AddressSanitizer.
build() {
    build_package Fuzz -c release --sanitize=fuzzer -Xswiftc -sanitize=fuzzer,address \
        -Xcc -fsanitize=fuzzer-no-link,address -Xcxx -fsanitize=fuzzer-no-link,address
}

# Swift keeps flags in the spare bits of pointers, so LeakSanitizer would report memory that is still referenced.
export ASAN_OPTIONS=detect_leaks=0

# fuzz TARGET DICTIONARY
fuzz() {
    logged "$run/$1.log" "Fuzz/.build/release/$1" "$run/$1" -dict="Fuzz/$2" -artifact_prefix="$run/findings/$1-" \
        -max_total_time="$seconds" -max_len=16384 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1
}

make_seeds
build
printf 'Fuzzing for %s seconds\n' "$seconds"
# In parallel, because each target uses one processor.
fuzz event-check event.dict & first=$!
fuzz plan-reader plan.dict & second=$!
status=0
wait "$first" || status=$?
wait "$second" || status=$?
for target in event-check plan-reader; do
    printf '%s: ' "$target"
    sed -n 's/^stat::number_of_executed_units: *\(.*\)/\1 inputs/p' "$run/$target.log"
done
exit "$status"
