#!/usr/bin/env bash
# Building, starting and stopping the `sluice` command; to be sourced.
set -euo pipefail
source scripts/lib/phase.sh

# The user's own settings must not send the events of these scripts to other servers.
unset DATABASE_URL KAFKA_BROKERS ${!SLUICE_@}

readonly sluice=.build/release/sluice
serve_pid=

say() {
    printf '\n\033[1m%s\033[0m\n' "$*"
}

# Prints the command, then runs it.
show() {
    printf '$ %s\n' "$*"
    "$@"
}

# end_with STOP: calls the function STOP when the script ends, and ends with success on Ctrl-C or SIGTERM.
end_with() {
    local stop=$1
    # shellcheck disable=SC2064
    trap "$stop" EXIT
    trap 'exit 0' INT TERM
}

sluice_build() {
    [[ -x $sluice ]] || echo "The first build takes several minutes; its output is in .run/build.log."
    phase "Build" .run/build.log swift build -c release --product sluice
}

# require_free ADDRESS TARGET: fails if another process listens on the address; TARGET is the target of make.
require_free() {
    local address=$1
    if (: <"/dev/tcp/${address%:*}/${address##*:}") 2>/dev/null; then
        echo "Port ${address##*:} is in use. Choose another: make $2 PORT=8090" >&2
        return 1
    fi
}

# serve_start ADDRESS [OPTION…]: starts `sluice serve`, and returns when it accepts events. $journal is the folder of its
# journal. Default: .run/journal. $admin is the address of its private port. Default: a free one
serve_start() {
    local address=$1 attempt
    shift
    mkdir -p .run
    "$sluice" serve --listen "$address" --events events --journal "${journal:-.run/journal}" --quarantine .run/quarantine \
        --admin "${admin:-127.0.0.1:0}" "$@" &
    serve_pid=$!
    for ((attempt = 0; attempt < 300; attempt++)); do
        if curl -fs -o /dev/null "http://$address/readyz"; then
            return
        fi
        kill -0 "$serve_pid" 2>/dev/null || break
        sleep 0.1
    done
    echo "sluice serve did not become ready." >&2
    return 1
}

# Stops `sluice serve` with SIGTERM, and waits until it has delivered its events.
serve_stop() {
    local pid=$serve_pid
    [[ -n $pid ]] || return 0
    serve_pid=
    kill -TERM "$pid" 2>/dev/null || true
    wait "$pid"
}
