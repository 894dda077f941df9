#!/usr/bin/env bash
# Runs what is concurrent under ThreadSanitizer, in a copy of the package with a mutex that the sanitizer knows.
set -euo pipefail
cd "$(dirname "$0")/.."

copy=$PWD/.run/tsan
# What runs on several threads, all in the process of the tests: pipeline, workers, journal, lanes, HTTP server.
suites='UnitTests\.(Lane|Pipeline|Quarantine|Restoring|TrackerContract)|EndToEndTests\.(Answer|Backpressure|Limit|Shutdown)Tests'

mkdir -p "$copy"
rm -rf "$copy/Sources" "$copy/Tests"
# With their times, so that a second run builds only what differs.
git ls-files -z | tar --create --null --files-from=- | tar --extract --directory="$copy"
while IFS= read -r module; do
    cp -p scripts/lib/Mutex.swift "$copy/$module/"
done < <(git grep -lE '\bMutex[<(]' -- 'Sources/*.swift' 'Tests/*.swift' | cut -d/ -f1,2 | sort -u)

cd "$copy"
TSAN_OPTIONS='halt_on_error=1 second_deadlock_stack=1' swift test --sanitize=thread --no-parallel --filter "$suites"
