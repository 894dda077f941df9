#!/usr/bin/env bash
# The packages beside Sluice that depend on it by path; to be sourced.
set -euo pipefail

# build_package FOLDER [OPTION…]: builds a package that depends on the one above it.
build_package() {
    local folder=$1
    shift
    # SwiftPM looks for added and removed files in the package itself only, unless its manifest is new.
    touch "$folder/Package.swift"
    swift build --package-path "$folder" "$@"
}
