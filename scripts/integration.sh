#!/usr/bin/env bash
# Runs the tests that start servers and processes. They mostly wait, so on Linux three processes run them at once, each with a
# PostgreSQL and a folder for temporary files of its own; within a process, one test runs at a time.
#
#   scripts/integration.sh [PATTERN]    the suites whose MODULE.SUITE matches the pattern, or all; the tests must be built
set -euo pipefail
cd "$(dirname "$0")/.."

# Runs tests one at a time, with these options.
#
# Several `swift test` at once fail, because each opens the build's database; so the program with the tests is run directly. macOS's
# cannot be run.
if [[ $(uname -s) == Linux ]]; then
    processes=3
    program=$(swift build --show-bin-path)/sluicePackageTests.xctest
    run_tests() { "$program" --testing-library swift-testing --no-parallel "$@"; }
else
    processes=1
    run_tests() { swift test --skip-build --no-parallel "$@"; }
fi

readonly out=$PWD/.run/integration
# Few groups, because each starts its PostgreSQL anew, but enough that all processes end at about the same time.
readonly groups=12

# Prints the suites as MODULE.SUITE. The chaos of loaders has a process of its own, see scale-test.sh.
suites() {
    swift test list --skip-build 2>/dev/null | sed -nE 's|^([A-Za-z]+\.[A-Za-z0-9]+)/.*|\1|p' \
        | grep -E '^(TrackerTests\.|EndToEndTests\.|PlanToolsTests\.(HTMLExport|SchemaAgreement)Tests$)' \
        | grep -vxF EndToEndTests.LoaderChaosTests | grep -E "$1" | sort -u
}

# Runs the suites that group $1 lists, prints how it ended, and says in its status file whether it passed.
run_group() {
    local group=$out/$1 filters=() suite status=0 folder start=$SECONDS
    while read -r suite; do filters+=(--filter "^${suite/./\\.}/"); done <"$group.suites"
    folder=$(mktemp -d "${TMPDIR:-/tmp}/sluice-$1.XXXXXX")
    # If the tests run as root, PostgreSQL's server runs as another user.
    chmod 1777 "$folder"
    TMPDIR=$folder run_tests "${filters[@]}" --xunit-output "$group.xml" >"$group.log" 2>&1 || status=$?
    rm -rf "$folder"
    printf 'Group %2s: %3s tests in %s s%s\n' "$1" "$(grep -acE '^[^ ]+ Test "?.* (passed|failed) after' "$group.log")" \
        $((SECONDS - start)) "$( ((status == 0)) || echo ', failed')"
    echo "$status" >"$group.status"
}

rm -rf "$out"
mkdir -p "$out"
number=0
while read -r suite; do
    echo "$suite" >>"$out/$((number % groups + 1)).suites"
    number=$((number + 1))
done < <(suites "${1:-.}")
if ((number == 0)); then
    echo "error: no suite matches '${1:-.}'" >&2
    exit 1
fi

export -f run_group run_tests
export out program=${program:-}
for ((group = 1; group <= groups && group <= number; group++)); do echo "$group"; done \
    | xargs -P "$processes" -I NUMBER bash -euo pipefail -c 'run_group NUMBER'

failed=0
for ((group = 1; group <= groups && group <= number; group++)); do
    if [[ $(cat "$out/$group.status") == 0 ]]; then continue; fi
    failed=1
    printf '\nWhat failed in %s:\n' ".run/integration/$group.log" >&2
    grep -aE '^✘ Test .* recorded an issue|Fatal error|unexpected signal' "$out/$group.log" >&2 || tail -n 5 "$out/$group.log" >&2
done
python3 scripts/lib/durations.py "$out"
exit "$failed"
