#!/usr/bin/env bash
# Builds the packages that depend on Sluice, as their readers would: the benchmarks, the examples with their tests, and the tutorial's; and
# tests when the build plugin generates Swift.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/packages.sh

# The benchmarks are compiled, but not run.
mkdir -p .run/ceilings
make -s -B -C Benchmarks/Ceilings OUT="$PWD/.run/ceilings"
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
sed -i "s|url: \"…/sluice\", from: \"[0-9.]*\"|name: \"sluice\", path: \"$PWD\"|" "$tutorial/Package.swift"
in_package "$tutorial" build
