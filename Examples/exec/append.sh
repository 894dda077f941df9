#!/usr/bin/env bash
# Appends events to a file, and answers each delivery once they are on disk: append.sh FILE
set -euo pipefail

# A process that was killed may have left a part of a line.
if [[ -s $1 && -n $(tail -c 1 "$1") ]]; then echo >>"$1"; fi

while IFS= read -r header; do
    [[ $header =~ \"delivery\":([0-9]+),.*\"bytes\":([0-9]+) ]]
    delivery=${BASH_REMATCH[1]} bytes=${BASH_REMATCH[2]}
    # Not `head -n`, which reads ahead, and would take the next header as well.
    head -c "$bytes" >>"$1"
    sync "$1"
    echo "{\"delivery\":$delivery}"
done
