#!/usr/bin/env bash
# Checks the format of all Swift code that is or would be committed, the style rules of Tests/ArchitectureTests, and the table of
# C libraries.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/phase.sh

git ls-files -z --cached --others --exclude-standard '*.swift' | while IFS= read -r -d '' file; do
    if [[ -e $file ]]; then printf '%s\0' "$file"; fi
done | xargs -0 swift format lint --strict --parallel --configuration .swift-format

# Optimised, because the rules search 100,000 lines.
logged .run/style.log swift test -c release --package-path Tests/ArchitectureTests --scratch-path .run/style

swift package dump-package | python3 scripts/lib/libraries.py
