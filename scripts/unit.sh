#!/usr/bin/env bash
# Runs the tests that need no server and no other program, in parallel.
#
#   scripts/unit.sh [--skip-build]
#
# SLUICE_TEST_SEEDS is how many seeds each simulation runs with. Default: 20; .ci/run sets 30.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/phase.sh
source scripts/lib/tests.sh

if [[ ${1:-} != --skip-build ]]; then
    phase "Build" .run/build-tests.log swift build --build-tests
fi
# Two suites of PlanToolsTests run Python.
require_tests -- '^EventModelTests\.' '^EventPipelineTests\.' '^JustTrackTests\.'
phase "Unit tests" .run/unit.log swift test --skip-build --skip '^(TrackerTests|HTTPTests|EndToEndTests|JustTrackTests)\.' \
    --skip '^PlanToolsTests\.(HTMLExport|SchemaAgreement)Tests'
# JustTrack's interface is synchronous: its tests block the threads that run them, and one test occupies all of them. In
# parallel with other tests they would deadlock on two processors, so they run one after another.
phase "JustTrack" .run/unit-justtrack.log swift test --skip-build --no-parallel --filter '^JustTrackTests\.'
