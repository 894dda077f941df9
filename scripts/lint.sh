#!/usr/bin/env bash
# Checks the format of all Swift code that is or would be committed.
set -euo pipefail
cd "$(dirname "$0")/.."

git ls-files -z --cached --others --exclude-standard '*.swift' \
    | xargs -0 swift format lint --strict --parallel --configuration .swift-format
