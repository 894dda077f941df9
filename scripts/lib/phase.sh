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

# follow NAME LOG: shows on the current line of the terminal the last step that a build has written to the log, as [12/345].
follow() {
    local name=$1 log=$2 step
    while sleep 1; do
        step=$(grep -oaE '^\[[0-9]+/[0-9]+\]' "$log" 2>/dev/null | tail -n 1) || true
        if [[ -n $step ]]; then printf '\r%-12s … %s ' "$name" "$step"; fi
    done
}

# phase NAME LOG COMMAND…: runs `logged LOG COMMAND…`, and prints the phase's name and how long it took; on a terminal, also the
# progress of a build.
phase() {
    local name=$1 log=$2 start follower= status=0
    shift 2
    start=$(microseconds)
    printf '%-12s … ' "$name"
    if [[ -t 1 ]]; then
        rm -f "$log"
        follow "$name" "$log" &
        follower=$!
    fi
    logged "$log" "$@" || status=$?
    if [[ -n $follower ]]; then
        kill "$follower" 2>/dev/null || true
        wait "$follower" 2>/dev/null || true
        printf '\r\033[K%-12s … ' "$name"
    fi
    ((status == 0)) || return "$status"
    elapsed "$start"
}
