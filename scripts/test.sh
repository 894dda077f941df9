#!/usr/bin/env bash
# Runs all Swift tests but the style rules, which `make lint` runs, checks the scripts' syntax, and runs the examples as their readers would run them.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/packages.sh
source scripts/lib/tests.sh

# Runs the tests that start servers and processes, one at a time: several at once would exceed their time limits on two
# processors. If some fail, the last lines say which and why.
test_package() {
    local log=.run/test.log status=0 pattern filters=()
    local patterns=('^TrackerTests\.' '^EndToEndTests\.' '^PlanToolsTests\.HTMLExportTests' '^PlanToolsTests\.SchemaAgreementTests')
    mkdir -p .run
    require_tests -- "${patterns[@]}"
    for pattern in "${patterns[@]}"; do filters+=(--filter "$pattern"); done
    # The chaos of loaders has a process of its own, see scale-test.sh.
    swift test --skip-build --no-parallel "${filters[@]}" --skip '^EndToEndTests\.LoaderChaosTests' 2>&1 | tee "$log" || status=$?
    if ((status != 0)); then
        printf '\nWhat failed:\n' >&2
        grep -aE '^✘ Test .* recorded an issue|Fatal error|unexpected signal' "$log" >&2 || true
        return "$status"
    fi
}

while IFS= read -r script; do
    bash -n "$script"
done < <(git ls-files '*.sh' .ci/run)

# The benchmarks' C programs are compiled, but not run.
mkdir -p .run/ceilings
make -s -B -C Benchmarks/Ceilings OUT="$PWD/.run/ceilings"

swift build --build-tests
scripts/unit.sh --skip-build
test_package
scripts/scale-test.sh 45

# The benchmarks' Swift is compiled, but not run.
in_package Benchmarks build

in_package Examples/custom-tracker run custom-tracker
in_package Examples/custom-tracker test
in_package Examples/hummingbird-app test
scripts/rebuild-test.sh

# The tutorial's package as its reader writes it, except for the URL of Sluice.
tutorial=.run/tutorial
rm -rf "$tutorial"
cp -R Tests/Tutorial "$tutorial"
# The file states the namespace, because the target has another name in this package than in the tutorial.
rm "$tutorial/Sources/Shop/event-codegen.json"
sed -i "s|url: \"…/sluice\", branch: \"main\"|name: \"sluice\", path: \"$PWD\"|" "$tutorial/Package.swift"
in_package "$tutorial" build
