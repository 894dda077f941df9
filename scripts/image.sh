#!/usr/bin/env bash
# Builds the command from the files that the container image's build gets, with the Dockerfile's command, and compares the
# image's packages with the libraries that the command needs. It needs no Docker.
#
# It is a real build, because only that detects a missing file. It has a build folder of its own, .run/image/build. The program is copied
# to .run/image/sluice.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# This script understands only the patterns "*" and "!path" of .dockerignore.
if [[ $(head -n 1 .dockerignore) != "*" ]] || tail -n +2 .dockerignore | grep -vqE '^![A-Za-z0-9_./-]+$'; then
    echo "error: .dockerignore has a pattern other than a first '*' and '!path', which scripts/image.sh cannot read" >&2
    exit 1
fi
for path in $(sed -n 's/^!//p' .dockerignore); do cp -R --parents "$path" "$folder"; done
if [ -f Package.resolved ]; then cp Package.resolved "$folder"; fi

build=(swift build -c release --package-path "$folder" --scratch-path "$PWD/.run/image/build" --product sluice
    --static-swift-stdlib -debug-info-format none)
"${build[@]}"
command=.run/image/sluice
# Without its symbols, it has a quarter of the size.
install -D --strip "$("${build[@]}" --show-bin-path)/sluice" "$command"
"$command" --version

# What the second stage of the Dockerfile installs.
packages=$(awk '/^FROM /{stage++} stage == 2' Dockerfile | tr '\n' ' ' \
    | sed -E 's/\\ / /g; s/.*--no-install-recommends ([^&]*)&&.*/\1/')

# The package that a library belongs to; dpkg may list it with or without /usr.
owner() {
    local path
    path=$(realpath "$1")
    dpkg -S "$path" 2>/dev/null || dpkg -S "${path#/usr}" 2>/dev/null || dpkg -S "/usr$path"
}

missing=$(ldd "$command" | grep "not found" || true)
[ -z "$missing" ] || { echo "error: $missing" >&2; exit 1; }
needed=$(for library in $(ldd "$command" | grep -oE '/[^ ]+'); do owner "$library" | cut -d: -f1; done | sort -u)
# debian:bookworm-slim has apt and its dependencies. The image must install the others, directly or as dependencies.
present=$(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
    --no-enhances apt $packages | grep -oE '^[a-z0-9][a-z0-9.+-]*' | sort -u)

status=0
for package in $needed; do
    grep -qxF "$package" <<<"$present" && continue
    echo "error: the command needs the package '$package', which the image does not install" >&2
    status=1
done
for package in $packages; do
    [[ $package != lib* && $package != zlib1g ]] && continue
    grep -qxF "$package" <<<"$needed" && continue
    echo "error: the image installs the package '$package', which the command does not need" >&2
    status=1
done

# The program starts in a root that has nothing but its libraries, and /proc, from which it reads its arguments.
root=$folder/root
mkdir -p "$root/proc"
install "$command" "$root/sluice"
for library in $(ldd "$command" | grep -oE '/[^ ]+'); do cp -L --parents "$library" "$root"; done
# shellcheck disable=SC2016
start='chroot "$1" /sluice init /shop >/dev/null && chroot "$1" /sluice lint /shop/events'
if unshare --mount --map-root-user true 2>/dev/null; then
    unshare --mount --map-root-user bash -c 'mount --rbind /proc "$1/proc" && '"$start" - "$root"
else
    # Without a namespace for /proc, the program sees no arguments, and prints its help.
    chroot "$root" /sluice | grep -q '^OVERVIEW' || { echo "error: the program does not start in a bare root" >&2; exit 1; }
fi
echo "The program has $(($(stat -c %s "$command") >> 20)) MiB, and starts in a root that has only its libraries."

[ $status -ne 0 ] || echo "The image has all files for the build, and the libraries that the command needs:" $packages
exit $status
