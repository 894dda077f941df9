#!/usr/bin/env bash
# A private PostgreSQL cluster, reached through a socket in its own folder; to be sourced.
set -euo pipefail

postgres_home=

# Prints the folder of PostgreSQL's server programs, of the newest version if there are several.
postgres_bindir() {
    local initdb
    for initdb in $(ls -d /usr/lib/postgresql/*/bin/initdb /opt/homebrew/opt/postgresql@*/bin/initdb 2>/dev/null \
        | sort -Vr) "$(command -v initdb || true)"; do
        if [[ -x $initdb ]]; then
            dirname "$initdb"
            return
        fi
    done
    return 1
}

# postgres_as COMMAND…: runs it as the user postgres if we are root, because PostgreSQL refuses to run as root.
postgres_as() {
    if [[ $EUID -eq 0 ]]; then
        (cd / && runuser -u postgres -- "$@")
    else
        "$@"
    fi
}

# postgres_start FOLDER [SETTING=VALUE…]: makes a new cluster in the folder, starts it, and sets postgres_url.
# If the user postgres cannot write to the folder, the cluster is in the folder for temporary files.
postgres_start() {
    local folder=$1 bin setting options="-c listen_addresses=''"
    shift
    bin=$(postgres_bindir) || {
        echo "The PostgreSQL server is not installed. Run: scripts/setup.sh demo" >&2
        return 1
    }
    rm -rf "$folder"
    mkdir -p "$folder"
    if [[ $EUID -eq 0 ]]; then
        chown postgres "$folder"
    fi
    # A socket's path is at most 107 bytes long.
    if ! postgres_as test -w "$folder" || ((${#folder} > 80)); then
        folder=$(postgres_as mktemp -d "${TMPDIR:-/tmp}/sluice-postgres.XXXXXX")
    fi
    postgres_home=$folder
    postgres_as "$bin/initdb" -D "$folder/data" -U sluice -A trust -E UTF8 --no-locale >"$folder/setup.log" 2>&1 || {
        cat "$folder/setup.log" >&2
        return 1
    }
    for setting in "$@"; do
        options+=" -c $setting"
    done
    postgres_as "$bin/pg_ctl" -D "$folder/data" -w -o "$options -k $folder" -l "$folder/server.log" start \
        >>"$folder/setup.log" 2>&1 || {
        cat "$folder/setup.log" "$folder/server.log" >&2
        return 1
    }
    postgres_as "$bin/createdb" -h "$folder" -U sluice sluice
    postgres_url="postgresql://sluice@/sluice?host=$folder"
}

# Stops and removes the cluster.
postgres_stop() {
    local folder=$postgres_home
    [[ -n $folder ]] || return 0
    postgres_home=
    postgres_as "$(postgres_bindir)/pg_ctl" -D "$folder/data" -m fast -w stop >>"$folder/setup.log" 2>&1 || true
    rm -rf "$folder"
}
