#!/usr/bin/env bash
# Attacks a release build over the loopback interface with hostile requests; fails if it exceeds a documented limit.
#
#   scripts/attack.sh [--short]
#
# SLUICE_PROGRAM is the program to attack. Default: builds it.
set -euo pipefail
cd "$(dirname "$0")/.."
# Read first, because the library removes the user's settings.
program=${SLUICE_PROGRAM:-}
source scripts/lib/sluice.sh

if [[ -z $program ]]; then sluice_build; fi
python3 scripts/attack.py "${program:-$sluice}" "$@"
