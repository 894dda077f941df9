#!/usr/bin/env bash
# Writes Documentation/Trust/PromiseTests.md, the tests of each promise, from the traits of the tests; DocumentationTests
# compares it.
set -euo pipefail
cd "$(dirname "$0")/.."

SLUICE_WRITE_PROMISES=1 swift test -c release --package-path Tests/ArchitectureTests --scratch-path .run/style \
    --filter DocumentationTests
