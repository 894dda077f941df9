#!/usr/bin/env bash
# Writes Documentation/Operate/Commands.md from the help and the metrics of the command, and deploy/sluice.example.yaml
# from its settings; a test compares them.
#
#   scripts/command-reference.sh [SLUICE]       the program. Default: the debug build
set -euo pipefail
cd "$(dirname "$0")/.."

readonly sluice=${1:-.build/debug/sluice}

if [[ ! -x $sluice ]]; then
    echo "command-reference: there is no $sluice; run: swift build --product sluice" >&2
    exit 1
fi

# subcommands COMMAND…: the names under SUBCOMMANDS in its help.
subcommands() {
    "$sluice" "$@" --help | sed -n '/^SUBCOMMANDS:/,/^$/p' | sed -nE 's/^  ([a-z][a-z-]*)( .*)?$/\1/p'
}

# section COMMAND…: a command's help, and the help of its subcommands.
section() {
    local name names
    printf '\n## sluice %s\n\n```\n' "$*"
    COLUMNS=120 "$sluice" "$@" --help | sed -E 's/[[:space:]]+$//'
    printf '```\n'
    if [[ $* == 'config example' ]]; then
        printf '\nIts output is [deploy/sluice.example.yaml](../../deploy/sluice.example.yaml).\n'
    fi
    if [[ $* == metrics ]]; then
        printf '\nIts output:\n\n'
        "$sluice" metrics
    fi
    names=$(subcommands "$@")
    for name in $names; do section "$@" "$name"; done
}

# Moved at the end, so that a failure leaves the page as it was.
page=$(mktemp Documentation/Operate/Commands.XXXXXX)
chmod 644 "$page"
trap 'rm -f "$page" "$page.yaml"' EXIT
{
    printf '# Commands\n\nThe help of every command, and every metric ([sluice metrics](#sluice-metrics)). Every setting with its default is in\n[deploy/sluice.example.yaml](../../deploy/sluice.example.yaml).\n`scripts/command-reference.sh` writes this page.\n'
    commands=$(subcommands)
    for name in $commands; do section "$name"; done
} >"$page"
"$sluice" config example >"$page.yaml"
mv "$page" Documentation/Operate/Commands.md
mv "$page.yaml" deploy/sluice.example.yaml
