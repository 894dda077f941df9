#!/usr/bin/env bash
# Runs the concurrent tests under ThreadSanitizer, in a copy of the package with a mutex that the sanitizer understands.
#
#   scripts/tsan.sh [--short] [--build]     --short leaves out the HTTP server, whose build takes longer than all others together;
#                                           --build only builds the tests
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/tests.sh

is_short='' only_builds=''
for option in "$@"; do
    case $option in
        --short) is_short=1 ;;
        --build) only_builds=1 ;;
        *) echo "error: unknown option $option" >&2; exit 64 ;;
    esac
done

copy=$PWD/.run/tsan
# Pipeline, workers, journal and lanes, all in the process of the tests.
suites=('^(EventPipelineTests|EventQuarantineTests|JustTrackTests|SluiceTestingTests)\.'{Lane,Pipeline,Quarantine,Restoring,TrackerContract})
# The package without its other tests, which would be compiled too.
export SLUICE_TEST_TARGETS='EventPipelineTests EventQuarantineTests JustTrackTests SluiceTestingTests'
if [[ -z $is_short ]]; then
    suites+=('^HTTPTests\.'{Answer,Backpressure,Limit,Shutdown}Tests)
    SLUICE_TEST_TARGETS+=' HTTPTests'
fi

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
if [[ -n $only_builds ]]; then exit; fi
require_tests --sanitize=thread -- "${suites[@]}"
filters=()
for suite in "${suites[@]}"; do filters+=(--filter "$suite"); done
swift test --skip-build --sanitize=thread --no-parallel "${filters[@]}"
