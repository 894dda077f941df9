#!/usr/bin/env bash
# Runs loaders that crash, freeze and lose their connections, and counts what they load.
#
#   scripts/scale-test.sh SECONDS [BROKERS]
#
# BROKERS are those of a real cluster, as host:port,host:port; without them, librdkafka's mock cluster is used. The test creates a topic
# of 8 partitions with the brokers' default number of replicas and leaves it there; SLUICE_SCALE_TOPIC names an empty topic that exists
# instead. SLUICE_SCALE_PROPERTIES has librdkafka's properties for all clients, as name=value, separated by spaces, and SLUICE_SCALE_SEED
# repeats the order of events of an earlier run.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/tests.sh

log=.run/scale-test.log

# Runs the test once; its output is in the log, too.
attempt() {
    SLUICE_SCALE_SECONDS=$1 SLUICE_SCALE_BROKERS=$2 \
        swift test --skip-build --no-parallel --filter EndToEndTests.LoaderChaosTests 2>&1 | tee "$log"
}

swift build --build-tests
require_tests -- '^EndToEndTests.LoaderChaosTests'
mkdir -p .run
for number in 1 2 3; do
    status=0
    attempt "$1" "${2:-}" || status=$?
    # librdkafka 2.0.2's mock cluster aborts the process in which it runs if a member joins again while it waits for an answer to its
    # first request (rdkafka_mock_cgrp.c, line 567). That says nothing about the loaders.
    if ((status == 0)) || ! grep -aqF '!member->resp' "$log"; then exit "$status"; fi
    echo "scale-test: the mock cluster has failed an assertion of its own, run $number of 3" >&2
done
exit "$status"
