#!/usr/bin/env bash
# Installs what is missing on this machine; changes nothing if nothing is missing.
#
#   scripts/setup.sh           what building and running Sluice need
#   scripts/setup.sh demo      also PostgreSQL's server
#   scripts/setup.sh test      also what the tests need: PostgreSQL, PgBouncer, Chromium, openssl, Python's jsonschema,
#                              wrk, h2load, slowhttptest, promtool, tmux, rsyslog, and in Python environments in .run
#                              the SDKs of other products, what tests the OpenAPI document, two Singer targets, dbt, and what
#                              archives partitions
#   scripts/setup.sh bench     also what the benchmark needs: PostgreSQL, wrk, nginx, rsyslog, openssl and Python
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/postgres.sh

readonly minimum_swift=6.2
missing=()

fail() {
    printf 'setup: %s\n' "$*" >&2
    exit 1
}

# need PACKAGE COMMAND…: marks the package as missing if the command fails.
need() {
    local package=$1
    shift
    "$@" >/dev/null 2>&1 || missing+=("$package")
}

check_swift() {
    local version
    command -v swift >/dev/null \
        || fail "Swift is not installed. Get $minimum_swift or later from https://www.swift.org/install"
    version=$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9]+\.[0-9]+).*/\1/p' | head -n 1)
    printf '%s\n%s\n' "$minimum_swift" "$version" | sort -V -C \
        || fail "Swift $version is too old. Get $minimum_swift or later from https://www.swift.org/install"
}

find_missing_on_linux() {
    # SwiftPM fetches packages with git.
    need git command -v git
    need make command -v make
    need curl command -v curl
    need pkg-config command -v pkg-config
    need g++ command -v g++
    need libpq-dev pkg-config --exists libpq
    need libssl-dev pkg-config --exists libcrypto
    need librdkafka-dev pkg-config --exists rdkafka
    need libsimdjson-dev pkg-config --exists simdjson
    need libre2-dev pkg-config --exists re2
    need libisal-dev pkg-config --exists libisal
    need libxxhash-dev pkg-config --exists libxxhash
    need zlib1g-dev pkg-config --exists zlib
    if [[ -n $1 ]]; then
        need postgresql postgres_bindir
        need postgresql-client command -v psql
    fi
    if [[ $1 == test ]]; then
        need pgbouncer pgbouncer_installed
        # The tests validate the exported schemas with Python, and open the exported page in a browser.
        need python3-jsonschema python3 -c 'import jsonschema'
        need chromium find_chromium
        # Makes certificates, and tries which versions of TLS are spoken.
        need openssl command -v openssl
        need python3-venv python3 -c 'import ensurepip'
        # Load over HTTP/1.1, over HTTP/2, and from slow clients.
        need wrk command -v wrk
        need nghttp2-client command -v h2load
        need slowhttptest command -v slowhttptest
        # A terminal for `sluice top`.
        need tmux command -v tmux
        # A receiver of lines.
        need rsyslog rsyslog_installed
        # promtool checks the metrics, the alert rules and their tests.
        need prometheus command -v promtool
    fi
    if [[ $1 == bench ]]; then
        need wrk command -v wrk
        need nginx nginx_installed
        need rsyslog rsyslog_installed
        need openssl command -v openssl
        need python3 command -v python3
    fi
}

find_missing_on_macos() {
    need git command -v git
    need pkgconf command -v pkg-config
    need libpq pkg-config --exists libpq
    need librdkafka pkg-config --exists rdkafka
    need simdjson pkg-config --exists simdjson
    need re2 pkg-config --exists re2
    need isa-l pkg-config --exists libisal
    need xxhash pkg-config --exists libxxhash
    if [[ -n $1 ]]; then
        need postgresql@17 postgres_bindir
    fi
    if [[ $1 == test ]]; then
        need pgbouncer pgbouncer_installed
        need wrk command -v wrk
        need nghttp2 command -v h2load
        need slowhttptest command -v slowhttptest
        need tmux command -v tmux
        need rsyslog rsyslog_installed
        need prometheus command -v promtool
        # Homebrew has no formulas for these two.
        find_chromium >/dev/null \
            || fail 'the tests need Chromium or Chrome. Run: brew install --cask chromium'
        python3 -c 'import jsonschema' 2>/dev/null \
            || fail "the tests need Python's jsonschema. Run: python3 -m pip install --user jsonschema"
    fi
    if [[ $1 == bench ]]; then
        need wrk command -v wrk
        need nginx nginx_installed
        need python3 command -v python3
    fi
}

# Debian installs these three in /usr/sbin, which is on the PATH of root only.
pgbouncer_installed() {
    command -v pgbouncer || [[ -x /usr/sbin/pgbouncer ]]
}

rsyslog_installed() {
    command -v rsyslogd || [[ -x /usr/sbin/rsyslogd ]]
}

nginx_installed() {
    command -v nginx || [[ -x /usr/sbin/nginx ]]
}

# The browser under any of its names, which differ between systems.
find_chromium() {
    command -v chromium || command -v chromium-browser || command -v google-chrome \
        || [[ -x '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome' ]] \
        || [[ -x /Applications/Chromium.app/Contents/MacOS/Chromium ]]
}

# as_root COMMAND…: runs it with sudo if we are not root.
as_root() {
    if [[ $EUID -eq 0 ]]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        fail "this needs root, and there is no sudo. As root, run: apt-get install -y ${missing[*]}"
    fi
}

# When Debian's postgresql is first installed, it creates a cluster and starts it on port 5432. We need only the
# programs, so we turn that off during the installation. An existing PostgreSQL is left as it is.
install_on_debian() {
    local service drop_in=/etc/postgresql-common/createcluster.d/sluice-setup.conf
    printf 'setup: installing %s\n' "${missing[*]}"
    if [[ ! -d /etc/postgresql-common && " ${missing[*]} " == *" postgresql "* ]]; then
        trap 'as_root rm -f '"$drop_in" EXIT
        as_root mkdir -p "${drop_in%/*}"
        echo 'create_main_cluster = false' | as_root tee "$drop_in" >/dev/null
    fi
    # Debian would start these three as servers, now and at each boot.
    for service in nginx prometheus rsyslog; do
        [[ -d /run/systemd/system && " ${missing[*]} " == *" $service "* ]] || continue
        echo "setup: masking the service $service; only its programs are needed (undo: systemctl unmask $service)"
        as_root systemctl mask --quiet "$service.service"
    done
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

# rsyslog's module for PostgreSQL alone, because the installation of its package changes where this machine logs to.
unpack_ompgsql() {
    local module=$PWD/.run/bench/ompgsql.so folder
    [[ -e $module ]] && return
    folder=$(mktemp -d)
    (
        cd "$folder"
        apt-get download -qq rsyslog-pgsql || { as_root apt-get update -qq && apt-get download -qq rsyslog-pgsql; }
        dpkg -x ./*.deb .
    )
    mkdir -p "${module%/*}"
    cp "$folder"/usr/lib/*/rsyslog/ompgsql.so "$module"
    rm -rf "$folder"
}

# install_python LIST ENVIRONMENT: installs packages for the tests; a change of their list installs them anew.
install_python() {
    local list=Tests/Support/Clients/$1 environment=.run/$2
    cmp -s "$list" "$environment/requirements.txt" && return
    echo "setup: installing the packages of $list in $environment"
    rm -rf "$environment"
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet --disable-pip-version-check --requirement "$list"
    cp "$list" "$environment/requirements.txt"
}

main() {
    local purpose=${1:-}
    [[ $purpose =~ ^(|demo|test|bench)$ ]] || fail "unknown purpose: $purpose"
    check_swift
    if [[ $(uname -s) == Darwin ]]; then
        find_missing_on_macos "$purpose"
        [[ ${#missing[@]} -eq 0 ]] || fail "these are missing. Run: brew install ${missing[*]}"
    else
        find_missing_on_linux "$purpose"
        if [[ ${#missing[@]} -gt 0 ]]; then
            command -v apt-get >/dev/null \
                || fail "this is neither Debian nor Ubuntu. Install what Debian calls: ${missing[*]}"
            install_on_debian
        fi
    fi
    if [[ $purpose == bench && $(uname -s) == Linux ]]; then unpack_ompgsql; fi
    if [[ $purpose == test ]]; then
        install_python requirements.txt clients
        # The Singer targets need versions of the same packages that exclude each other.
        install_python target-jsonl.txt target-jsonl
        install_python target-postgres.txt target-postgres
        install_python dbt.txt dbt
        install_python archive.txt archive
    fi
}

main "$@"
