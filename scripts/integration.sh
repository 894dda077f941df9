#!/usr/bin/env bash
# Runs the tests that start servers and processes. One test at a time would leave a processor idle, so on Linux three processes run
# them, each with a PostgreSQL and a folder for temporary files of its own; within a process, one test runs at a time.
#
#   scripts/integration.sh [PATTERN]    the suites with tests whose MODULE.SUITE/TEST matches the pattern, or all; they must be built
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/tests.sh

# Runs tests one at a time, with these options.
#
# Several `swift test` at once fail, because each opens the build's database; so the program with the tests is run directly. On macOS it
# is a bundle, which only `swift test` runs.
if [[ $(uname -s) == Linux ]]; then
    processes=3
    program=$(swift build --show-bin-path)/sluicePackageTests.xctest
    # The limit ends a test that never returns, so that the others are reported, and it is named.
    run_tests() { timeout --kill-after=10 1200 "$program" --testing-library swift-testing --no-parallel "$@"; }
else
    processes=1
    run_tests() { swift test --skip-build --no-parallel "$@"; }
fi

readonly out=$PWD/.run/integration
# Few groups, because each starts its PostgreSQL anew, but enough that all processes end at about the same time: the slowest suite takes
# three minutes.
readonly groups=24

readonly patterns=('^TrackerTests\.' '^HTTPTests\.' '^EndToEndTests\.' '^PlanToolsTests\.HTMLExportTests/' '^PlanToolsTests\.SchemaAgreementTests/')

# Prints the tests, as MODULE.SUITE/TEST. The chaos of loaders has a process of its own, see scale-test.sh.
tests() {
    swift test list --skip-build 2>/dev/null | grep -E "$(IFS='|' && echo "${patterns[*]}")" \
        | grep -v '^EndToEndTests\.LoaderChaosTests/' | grep -E "$1"
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
    printf 'Group %2s: %3s tests in %s s%s\n' "$1" "$(grep -aE '^[^ ]+ Test .* (passed|failed) after' "$group.log" | grep -cv 'Test run with')" \
        $((SECONDS - start)) "$( ((status == 0)) || echo ', failed')"
    echo "$status" >"$group.status"
}

rm -rf "$out"
mkdir -p "$out"
require_tests -- "${patterns[@]}"
tests "${1:-.}" >"$out/tests" || {
    echo "error: no test matches '${1:-.}'" >&2
    exit 1
}
number=0
while read -r suite; do
    echo "$suite" >>"$out/$((number % groups + 1)).suites"
    number=$((number + 1))
done < <(cut -d/ -f1 "$out/tests" | sort -u)

export -f run_group run_tests
export out program=${program:-}
for ((group = 1; group <= groups && group <= number; group++)); do echo "$group"; done \
    | xargs -P "$processes" -I NUMBER bash -euo pipefail -c 'run_group NUMBER'

failed=0
for ((group = 1; group <= groups && group <= number; group++)); do
    if [[ $(cat "$out/$group.status") == 0 ]]; then continue; fi
    failed=1
    printf '\nWhat failed in %s:\n' ".run/integration/$group.log" >&2
    # The line after an issue is its comment, such as what a program has printed.
    grep -aE -A 1 '^✘ Test .* recorded an issue|Fatal error|unexpected signal' "$out/$group.log" | grep -vx -e -- >&2 \
        || tail -n 5 "$out/$group.log" >&2
    # One test runs at a time, so at most the last one has not ended.
    last=$(grep -aE '^[^ ]+ Test .* (started\.$|(passed|failed) after)' "$out/$group.log" | grep -v ' Test run ' | tail -n 1) || true
    if [[ $last == *started. ]]; then echo "This test had not ended when the group did (its limit is 1200 s): $last" >&2; fi
done
python3 scripts/lib/durations.py "$out"
# A filter that matches nothing is no error of the program.
if ((failed == 0 && $(wc -l <"$out/durations.tsv") < $(wc -l <"$out/tests"))); then
    echo "error: of $(wc -l <"$out/tests") tests, $(wc -l <"$out/durations.tsv") ran" >&2
    exit 1
fi
exit "$failed"
