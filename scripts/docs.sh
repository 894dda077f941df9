#!/usr/bin/env bash
# Builds the documentation of every module that has a catalog, and merges it into one site. A warning is an error, and so is a public
# declaration of the latest release that is missing or has changed.
#
# To read it: python3 -m http.server -d .run/docs/Sluice.doccarchive 8000, and http://localhost:8000/documentation
set -euo pipefail
cd "$(dirname "$0")/.."

readonly out=.run/docs

# Extracts the symbols of each module, with their comments; uses an existing build.
dump_symbols() {
    local log=$out/symbols.log
    swift package dump-symbol-graph --minimum-access-level public --skip-synthesized-members \
        --emit-extension-block-symbols >"$log" 2>&1 || {
        cat "$log" >&2
        return 1
    }
    symbols=$(sed -n 's/^Files written to //p' "$log")
}

# The module Sluice mainly re-exports other modules. SwiftPM leaves their symbols out, so they are extracted here.
dump_reexported_symbols() {
    local modules maps=() map target
    modules=$(sed -n 's/^@_exported public import //p' Sources/Sluice/Sluice.swift | paste -sd , -)
    for map in Sources/CLibraries/*/module.modulemap .build/debug/{CRE2,CSimdJSON}.build/module.modulemap; do
        maps+=(-Xcc "-fmodule-map-file=$map")
    done
    target=$(swift -print-target-info | sed -n 's/.*"triple": "\(.*\)".*/\1/p' | head -n 1)
    if command -v xcrun >/dev/null; then
        maps+=(-sdk "$(xcrun --show-sdk-path)" -I "$(brew --prefix)/include")
        # The oldest macOS that Package.swift names.
        target=$(uname -m)-apple-macosx15.0
    fi
    swift symbolgraph-extract -module-name Sluice -target "$target" -I .build/debug/Modules "${maps[@]}" \
        -minimum-access-level public -skip-synthesized-members -emit-extension-block-symbols \
        -experimental-allowed-reexported-modules="$modules" -output-dir "$symbols"
}

# The toolchain's docc, which is not on the PATH on macOS.
docc() {
    if command -v xcrun >/dev/null; then
        xcrun docc "$@"
    else
        command docc "$@"
    fi
}

# convert MODULE: builds its documentation from its catalog and its comments.
convert() {
    local module=$1 log=$out/$1.log
    mkdir -p "$out/symbols/$module"
    find "$symbols" \( -name "$module.symbols.json" -o -name "$module@*.symbols.json" \) \
        -exec cp {} "$out/symbols/$module" \;
    docc convert "Sources/$module/$module.docc" --additional-symbol-graph-dir "$out/symbols/$module" \
        --fallback-display-name "$module" --fallback-bundle-identifier "sluice.$module" \
        --warnings-as-errors --output-path "$out/modules/$module.doccarchive" >"$log" 2>&1 || {
        cat "$log" >&2
        return 1
    }
    if grep -q 'warning:' "$log"; then
        cat "$log" >&2
        return 1
    fi
}

# require_order MODULE: fails if a public declaration is in no group of its page; docc groups such declarations by kind.
require_order() {
    local page
    page=$out/modules/$1.doccarchive/data/documentation/$(tr '[:upper:]' '[:lower:]' <<<"$1").json
    if grep -q '"generated":true' "$page"; then
        echo "Sources/$1/$1.docc/$1.md: a public declaration is in no group under Topics." >&2
        return 1
    fi
}

rm -rf "$out"
mkdir -p "$out/modules"
dump_symbols
dump_reexported_symbols
failed=0
for catalog in Sources/*/*.docc; do
    module=$(basename "$catalog" .docc)
    { convert "$module" && require_order "$module"; } || failed=1
done
((failed == 0)) || exit 1
scripts/lib/api.py "$out/symbols" api/*.txt
docc merge "$out"/modules/*.doccarchive --output-path "$out/Sluice.doccarchive" --synthesized-landing-page-name Sluice
echo "The documentation is in $out/Sluice.doccarchive."
