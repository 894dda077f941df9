#!/usr/bin/env bash
# Feeds the readers arbitrary bytes, with libFuzzer and AddressSanitizer. What breaks them is kept under .run/fuzz.
#
#   scripts/fuzz.sh [SECONDS]     how long each target runs; 30 without
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/packages.sh
source scripts/lib/retail.sh

seconds=${1:-30}
run=$PWD/.run/fuzz

# The seeds are small plans and a few real events; what a run finds is added to them for the next.
make_seeds() {
    mkdir -p "$run/plan-reader" "$run/event-check" "$run/findings"
    cp Fuzz/Seeds/*.plist "$run/plan-reader/"
    retail_lines | sed -n '1~200p' | split -l 1 -a 3 - "$run/event-check/retail-"
}

# SwiftPM's own option leaves the entry point to libFuzzer; the flags after it add AddressSanitizer.
build() {
    build_package Fuzz -c release --sanitize=fuzzer -Xswiftc -sanitize=fuzzer,address \
        -Xcc -fsanitize=fuzzer-no-link,address -Xcxx -fsanitize=fuzzer-no-link,address
}

# Swift keeps flags in the spare bits of pointers, and LeakSanitizer takes what they point at for lost.
export ASAN_OPTIONS=detect_leaks=0

# fuzz TARGET DICTIONARY
fuzz() {
    printf '\nFuzzing %s for %s seconds\n' "$1" "$seconds"
    "Fuzz/.build/release/$1" "$run/$1" -dict="Fuzz/$2" -artifact_prefix="$run/findings/$1-" \
        -max_total_time="$seconds" -max_len=16384 -timeout=10 -rss_limit_mb=2048 -print_final_stats=1
}

make_seeds
build
fuzz event-check event.dict
fuzz plan-reader plan.dict
