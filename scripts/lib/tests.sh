#!/usr/bin/env bash
# Selects tests; to be sourced in the project's folder.
set -euo pipefail

# require_tests [OPTION…] -- PATTERN…: fails if one of the patterns matches no test, because `swift test` succeeds
# without running any. The options are those of `swift test list`; the tests must be built.
require_tests() {
    local options=() names pattern
    while [[ $1 != -- ]]; do
        options+=("$1")
        shift
    done
    shift
    names=$(swift test list --skip-build ${options[@]+"${options[@]}"} 2>/dev/null)
    for pattern in "$@"; do
        grep -qE "$pattern" <<<"$names" && continue
        echo "error: no test matches '$pattern'" >&2
        return 1
    done
}
