#!/usr/bin/env bash
# Proves the table "C libraries" in Documentation/Build/Library.md: builds a package that depends on one product, where the
# headers and pkg-config files of all other C libraries are hidden, and compares what the program is linked with.
#
#   scripts/libraries.sh [PRODUCT…]    these products, or all of the table
#
# The products share a build folder, which is empty at first, so a module is compiled only for the first product that has it.
# That takes about eight minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ $(uname -s) != Linux ]]; then
    echo "Libraries are hidden by a mount namespace, which only Linux has."
    exit 0
fi
# From here on, mounts are visible only to this script and the programs that it runs.
if [[ -z ${SLUICE_LIBRARIES_HIDDEN:-} ]]; then
    as=(); [[ $EUID -eq 0 ]] || as=(--map-root-user)
    if ! unshare "${as[@]}" --mount --propagation private true 2>/dev/null; then
        echo "error: this check hides libraries by a mount namespace, which this system forbids (as most containers do)" >&2
        exit 1
    fi
    SLUICE_LIBRARIES_HIDDEN=1 exec unshare "${as[@]}" --mount --propagation private scripts/libraries.sh "$@"
fi

# Each line: a product, and the Debian packages that it needs.
table=$(awk -F'|' '/^\| product \| Debian packages \|/ { inside = 1; getline; next }
    inside && !/^\|/ { exit }
    inside { products = $2; gsub(/[`,]/, "", products); packages = $3; gsub(/[`,]/, "", packages)
        count = split(products, names, " "); for (i = 1; i <= count; i++) print names[i], packages }' Documentation/Build/Library.md)
for product in "$@"; do
    grep -q "^$product " <<<"$table" && continue
    echo "error: '$product' is not in the table; its products are" $(cut -d' ' -f1 <<<"$table") >&2
    exit 1
done
all_packages=$(cut -d' ' -f2- <<<"$table" | tr ' ' '\n' | sort -u | sed '/^$/d')
for package in $all_packages; do
    dpkg -s "$package" >/dev/null 2>&1 && continue
    echo "error: Documentation/Build/Library.md names the package '$package', which is not installed" >&2
    exit 1
done

folder=$PWD/.run/libraries
rm -rf "$folder"
mkdir -p "$folder"
echo '#error "this header is hidden from the build"' >"$folder/hidden.h"
: >"$folder/hidden.pc"

# hide PACKAGE / show PACKAGE: hides or shows the headers and pkg-config files of the package.
hide() {
    local file
    for file in $(files_of "$1"); do mount --bind "$folder/hidden.${file##*.}" "$file"; done
}
show() {
    local file
    for file in $(files_of "$1"); do umount "$file"; done
}
files_of() {
    dpkg -L "$1" | grep -E '^/usr/include/.*\.h$|\.pc$' | while IFS= read -r file; do
        [[ -L $file || ! -f $file ]] || echo "$file"
    done
}

# The name by which a program is linked with the library of a package: libpq.so.5 is libpq.
linked_name() {
    dpkg -L "$1" | sed -nE 's|.*/(lib[^/]*)\.so$|\1|p' | case $1 in
        # These packages have two libraries each, and the programs need one of them.
        libssl-dev) grep -x libcrypto ;;
        librdkafka-dev) grep -x librdkafka ;;
        *) head -n 1 ;;
    esac
}

# check PRODUCT PACKAGE…: builds a package that depends on it, and compares the libraries.
check() {
    local product=$1 needed found package package_folder=$folder/use-$1
    shift
    # SwiftPM tells packages apart by the names of their folders, and the checkout may be in one that is named "sluice".
    mkdir -p "$package_folder/Sources/use"
    echo "import $product" >"$package_folder/Sources/use/main.swift"
    [ ! -f Package.resolved ] || cp Package.resolved "$package_folder"
    cat >"$package_folder/Package.swift" <<EOF
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "use",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "sluice", path: "$PWD")],
    targets: [.executableTarget(name: "use", dependencies: [.product(name: "$product", package: "sluice")])]
)
EOF
    # SwiftPM would take the plan of the previous product's build for this one's.
    rm -f "$folder"/build/debug.yaml "$folder"/build/debug/description.json
    echo "$product: $*"
    if ! swift build --package-path "$package_folder" --scratch-path "$folder/build" >"$folder/log" 2>&1; then
        grep -E 'error|warning' "$folder/log" >&2 || tail -n 20 "$folder/log" >&2
        echo "error: $product does not build with only these libraries: $*" >&2
        return 1
    fi
    # SwiftPM names the package whose manifest it warns about; another package's manifest is not ours to change.
    if grep 'warning:' "$folder/log" | grep -vE "^warning: 'swift-[^']+': " >&2; then
        echo "error: the build of $product gave warnings" >&2
        return 1
    fi
    needed=$(for package in "$@"; do linked_name "$package"; done | sort)
    found=$(objdump -p "$folder/build/debug/use" | sed -nE 's/ *NEEDED +(lib[^.]*(\+\+)?)\.so.*/\1/p' \
        | grep -xF "$(for package in $all_packages; do linked_name "$package"; done)" | sort || true)
    if [[ $found != "$needed" ]]; then
        echo "error: $product is linked with" $found "but Documentation/Build/Library.md says" $needed >&2
        return 1
    fi
}

for package in $all_packages; do hide "$package"; done
hidden=$all_packages
while read -r product packages; do
    [[ $# -eq 0 || " $* " == *" $product "* ]] || continue
    wanted=$(tr ' ' '\n' <<<"$packages" | sed '/^$/d' | sort -u)
    for package in $(comm -12 <(echo "$hidden") <(echo "$wanted")); do show "$package"; done
    for package in $(comm -13 <(echo "$hidden") <(comm -23 <(echo "$all_packages") <(echo "$wanted"))); do hide "$package"; done
    hidden=$(comm -23 <(echo "$all_packages") <(echo "$wanted"))
    check "$product" $packages
done <<<"$table"
echo "Each product builds and links with the C libraries that Documentation/Build/Library.md names, and with no others."
