#!/usr/bin/env bash
# Writes the tables of Documentation/Build/PlanChanges.md from the cases that test what changes of a plan break; StabilityTests
# compares them.
set -euo pipefail
cd "$(dirname "$0")/.."

SLUICE_WRITE_PLAN_CHANGES=1 swift test --filter '^PlanToolsTests\.StabilityTests/'
