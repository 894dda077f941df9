#!/usr/bin/env bash
# Runs all Swift tests but the style rules, which `make lint` runs, and the packages that depend on Sluice, which `make packages` builds.
#
#   scripts/test.sh [--build]     --build only builds the tests
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/phase.sh

while IFS= read -r script; do
    bash -n "$script"
done < <(git ls-files '*.sh' .ci/run)

phase "Build" .run/build-tests.log swift build --build-tests
if [[ ${1:-} == --build ]]; then exit; fi
scripts/unit.sh --skip-build
scripts/integration.sh
phase "Loaders that crash" .run/scale-test-output.log scripts/scale-test.sh 45
