#!/usr/bin/env bash
# Runs long commands with their output in a log file; to be sourced in the project's folder.
set -euo pipefail

# logged LOG COMMAND…: writes the command's output to a log file, and prints only its end if the command fails.
logged() {
    local log=$1 status=0
    shift
    mkdir -p "$(dirname "$log")"
    "$@" >"$log" 2>&1 || status=$?
    if ((status != 0)); then
        printf 'failed: %s\n' "$*" >&2
        # Errors first, because a build continues after an error, and a test run prints every test that passes.
        grep -aE 'error:|^✘|^↳|Fatal error' "$log" | head -n 40 >&2 || true
        printf 'The last lines of %s:\n' "$log" >&2
        tail -n 20 "$log" >&2
    fi
    return "$status"
}

# Prints the time in microseconds; macOS's bash 3 has only seconds.
microseconds() {
    local time=${EPOCHREALTIME:-$SECONDS.000000}
    printf '%s' "${time/[.,]/}"
}

# elapsed START: prints the seconds since a time in microseconds.
elapsed() {
    local tenths=$((($(microseconds) - $1) / 100000))
    printf '%d.%d s\n' $((tenths / 10)) $((tenths % 10))
}

# phase NAME LOG COMMAND…: runs `logged LOG COMMAND…`, and prints the phase's name and how long it took.
phase() {
    local name=$1 log=$2 start
    shift 2
    start=$(microseconds)
    printf '%-12s … ' "$name"
    logged "$log" "$@"
    elapsed "$start"
}
