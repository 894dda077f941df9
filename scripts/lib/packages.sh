#!/usr/bin/env bash
# The packages beside Sluice that depend on it by path; to be sourced in the project's folder.
#
# In debug they share its build folder, so that nothing is compiled twice. SwiftPM takes the plan of the build that it finds
# there for this package's, whichever package made it; so whoever turns to another package forgets the plan first.
set -euo pipefail

# The plan that the next build makes anew; without it, everything compiled is still there.
forget_plan() {
    rm -f .build/debug.yaml .build/debug/description.json
}

# Whatever happens, the next build of Sluice must not find another package's plan.
trap forget_plan EXIT

# in_package FOLDER COMMAND [OPTION…]: runs `swift build`, `test` or `run` for a package.
in_package() {
    local folder=$1 command=$2
    shift 2
    forget_plan
    swift "$command" --package-path "$folder" --scratch-path .build "$@"
}

# build_package FOLDER [OPTION…]: builds a package in a folder of its own, for what is not built in debug.
build_package() {
    local folder=$1
    shift
    # SwiftPM looks for added and removed files in the package itself only, unless its manifest is new.
    touch "$folder/Package.swift"
    swift build --package-path "$folder" "$@"
}
