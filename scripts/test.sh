#!/usr/bin/env bash
# Everything that can fail: the scripts' syntax, all Swift tests, and the examples as their readers would run them.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/packages.sh

# Runs the package's tests; where some fail, the last lines say which and why, for who sees only the end of a long log.
#
# One test at a time: they start servers and hold them to time limits, and two cores are soon full.
test_package() {
    local log=.run/test.log status=0
    mkdir -p .run
    swift test --no-parallel 2>&1 | tee "$log" || status=$?
    if ((status != 0)); then
        printf '\nWhat failed:\n' >&2
        grep -aE '^✘ Test .* recorded an issue|Fatal error|unexpected signal' "$log" >&2 || true
        return "$status"
    fi
}

while IFS= read -r script; do
    bash -n "$script"
done < <(git ls-files '*.sh' .ci/run)

# The benchmarks' C programs are built, not run, so that they go on compiling.
mkdir -p .run/ceilings
make -s -B -C Benchmarks/Ceilings OUT="$PWD/.run/ceilings"

swift build --build-tests
test_package

# The benchmarks' Swift is built, not run, for the same reason.
in_package Benchmarks build

in_package Examples/custom-tracker run custom-tracker
in_package Examples/custom-tracker test
in_package Examples/hummingbird-app test
scripts/rebuild-test.sh

# The tutorial's package as its reader types it, but for the place that Sluice comes from.
tutorial=.run/tutorial
rm -rf "$tutorial"
cp -R Tests/Tutorial "$tutorial"
# Here its target has another name, so that the namespace has to be stated.
rm "$tutorial/Sources/Shop/event-codegen.json"
sed -i "s|url: \"…/sluice\", branch: \"main\"|name: \"sluice\", path: \"$PWD\"|" "$tutorial/Package.swift"
in_package "$tutorial" build
