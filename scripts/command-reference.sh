#!/usr/bin/env bash
# Writes Documentation/Commands.md from the command's own help; a test compares the two.
#
#   scripts/command-reference.sh [SLUICE]       the program. Default: the debug build
set -euo pipefail
cd "$(dirname "$0")/.."

readonly sluice=${1:-.build/debug/sluice}

# subcommands COMMAND…: the names under the help's SUBCOMMANDS, but for `help`.
subcommands() {
    "$sluice" "$@" --help | sed -n '/^SUBCOMMANDS:/,/^$/p' | sed -nE 's/^  ([a-z][a-z-]*)( .*)?$/\1/p'
}

# section COMMAND…: a command's help, and that of the commands that it has itself.
section() {
    local name
    printf '\n## sluice %s\n\n```\n' "$*"
    COLUMNS=120 "$sluice" "$@" --help | sed -E 's/[[:space:]]+$//'
    printf '```\n'
    for name in $(subcommands "$@"); do section "$@" "$name"; done
}

{
    printf '# Commands\n\nThe help of every command. `scripts/command-reference.sh` writes this page.\n'
    for name in $(subcommands); do section "$name"; done
} >Documentation/Commands.md
