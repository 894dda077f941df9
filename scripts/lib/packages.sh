#!/usr/bin/env bash
# Builds the packages that depend on Sluice by path; to be sourced in the project's folder.
#
# They share Sluice's build folder, so that nothing is compiled twice. SwiftPM reuses the build plan that it finds
# there, even if another package made it; so the plan is removed before another package is built.
set -euo pipefail

# Removes the build plan, but nothing that is compiled; the next build makes a new plan.
forget_plan() {
    rm -f .build/{debug,release}.yaml .build/{debug,release}/description.json
}

# in_package FOLDER COMMAND [OPTION…]: runs `swift build`, `test` or `run` for a package.
in_package() {
    local folder=$1 command=$2
    shift 2
    forget_plan
    # The next build of Sluice must not find this package's plan, even after a failure or a signal.
    (
        trap forget_plan EXIT
        swift "$command" --package-path "$folder" --scratch-path .build "$@"
    )
}
