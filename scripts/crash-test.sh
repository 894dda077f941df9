#!/usr/bin/env bash
# Kills `sluice serve` again and again while clients send, and counts the events that arrive.
#
#   scripts/crash-test.sh N    N is how often
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/tests.sh

swift build --build-tests
require_tests -- '^EndToEndTests.CrashTests'
SLUICE_CRASHES=$1 swift test --skip-build --no-parallel --filter EndToEndTests.CrashTests
