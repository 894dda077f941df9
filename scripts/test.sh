#!/usr/bin/env bash
# Runs all Swift tests but the style rules, which `make lint` runs, checks the scripts' syntax, and runs the examples as their readers would run them.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/packages.sh
source scripts/lib/phase.sh
source scripts/lib/tests.sh

while IFS= read -r script; do
    bash -n "$script"
done < <(git ls-files '*.sh' .ci/run)

# The benchmarks' C programs are compiled, but not run.
mkdir -p .run/ceilings
make -s -B -C Benchmarks/Ceilings OUT="$PWD/.run/ceilings"

phase "Build" .run/build-tests.log swift build --build-tests
scripts/unit.sh --skip-build
scripts/integration.sh
phase "Loaders that crash" .run/scale-test-output.log scripts/scale-test.sh 45

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
