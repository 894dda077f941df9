#!/usr/bin/env bash
# Fuzzes the readers with libFuzzer and AddressSanitizer. Inputs that break them are stored in .run/fuzz/findings.
#
#   scripts/fuzz.sh [SECONDS]     how long the targets run, in parallel. Default: 30
#   scripts/fuzz.sh --build       only builds the targets
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/phase.sh
source scripts/lib/retail.sh

run=$PWD/.run/fuzz

# The seeds are small plans and a few real events; a run adds the inputs that reach new code.
make_seeds() {
    mkdir -p "$run/copy-rows" "$run/event-check" "$run/plan-reader" "$run/findings"
    cp Fuzz/Seeds/*.plist "$run/plan-reader/"
    split -l 1 -a 3 Fuzz/Seeds/canonical.ndjson "$run/copy-rows/canonical-"
    retail_lines | sed -n '1~200p' | split -l 1 -a 3 - "$run/event-check/retail-"
    split -l 1 -a 3 Fuzz/Seeds/events.ndjson "$run/event-check/events-"
}

# In a folder of its own, because of its flags. The option --sanitize=fuzzer leaves the entry point to libFuzzer; the flags after it add
# AddressSanitizer.
export SLUICE_FUZZ=1
build() {
    local target
    for target in copy-rows event-check plan-reader; do
        swift build --scratch-path "$run/build" -c release --product "$target" --sanitize=fuzzer \
            -Xswiftc -sanitize=fuzzer,address -Xcc -fsanitize=fuzzer-no-link,address -Xcxx -fsanitize=fuzzer-no-link,address
    done
}

# Swift keeps flags in the spare bits of pointers, so LeakSanitizer would report memory that is still referenced.
export ASAN_OPTIONS=detect_leaks=0

# fuzz TARGET DICTIONARY
fuzz() {
    logged "$run/$1.log" "$run/build/release/$1" "$run/$1" -dict="Fuzz/$2" -artifact_prefix="$run/findings/$1-" \
        -max_total_time="$seconds" -max_len=16384 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1
}

build
if [[ ${1:-} == --build ]]; then exit; fi
seconds=${1:-30}
make_seeds
printf 'Fuzzing for %s seconds\n' "$seconds"
# In parallel, because each target uses one processor.
fuzz copy-rows event.dict & first=$!
fuzz event-check event.dict & second=$!
fuzz plan-reader plan.dict & third=$!
status=0
wait "$first" || status=$?
wait "$second" || status=$?
wait "$third" || status=$?
for target in copy-rows event-check plan-reader; do
    printf '%s: ' "$target"
    sed -n 's/^stat::number_of_executed_units: *\(.*\)/\1 inputs/p' "$run/$target.log"
done
exit "$status"
