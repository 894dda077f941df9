#!/usr/bin/env bash
# Plays senders that mean harm against a release build, on the loopback interface; fails if a stated bound is broken.
#
#   scripts/attack.sh [--short]
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/sluice.sh

sluice_build
python3 scripts/attack.py "$sluice" "$@"
