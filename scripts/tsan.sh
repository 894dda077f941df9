#!/usr/bin/env bash
# Runs the concurrent tests under ThreadSanitizer, in a copy of the package with a mutex that the sanitizer understands.
#
#   scripts/tsan.sh [--build]     --build only builds the tests
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/tests.sh

copy=$PWD/.run/tsan
# Pipeline, workers, journal, lanes and HTTP server, all in the process of the tests.
suites=(
    '^(EventPipelineTests|EventQuarantineTests|JustTrackTests|SluiceTestingTests)\.'{Lane,Pipeline,Quarantine,Restoring,TrackerContract}
    '^HTTPTests\.'{Answer,Backpressure,Limit,Shutdown}Tests
)
# The package without its other tests, which would be compiled too.
export SLUICE_TEST_TARGETS='EventPipelineTests EventQuarantineTests JustTrackTests SluiceTestingTests HTTPTests'

mkdir -p "$copy"
rm -rf "$copy/Sources" "$copy/Tests"
# tar keeps the times, so that a second run compiles only changed files.
git ls-files -z | tar --create --null --files-from=- | tar --extract --directory="$copy"
while IFS= read -r module; do
    cp -p scripts/lib/Mutex.swift "$copy/$module/"
done < <(git grep -lE '\bMutex[<(]' -- 'Sources/*.swift' 'Tests/*.swift' \
    | sed -E 's|^(Tests/UnitTests/Support/[^/]+\|Tests/UnitTests/[^/]+\|[^/]+/[^/]+)/.*|\1|' | sort -u)

cd "$copy"
export TSAN_OPTIONS='halt_on_error=1 second_deadlock_stack=1'
# Of the package, only what these tests need.
swift build --product sluicePackageTests --sanitize=thread
if [[ ${1:-} == --build ]]; then exit; fi
require_tests --sanitize=thread -- "${suites[@]}"
filters=()
for suite in "${suites[@]}"; do filters+=(--filter "$suite"); done
swift test --skip-build --sanitize=thread --no-parallel "${filters[@]}"
