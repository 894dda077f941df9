#!/usr/bin/env bash
# Removes each guard of the loader in turn, and requires that its test then fails.
#
# A guard is a line in Sources that ends with "// guard: NAME"; its test is the function of PartitionGuardTests with that name in camel
# case. The sources are restored in the end, whatever happens.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/phase.sh
source scripts/lib/tests.sh

suite=TrackerTests.PartitionGuardTests
changed=
copy=$(mktemp)

restore() {
    [[ -n $changed ]] || return 0
    cat "$copy" >"$changed"
    changed=
}

# Prints the name of a guard's test.
test_of() {
    awk -F - '{ printf "%s", $1; for (i = 2; i <= NF; i++) printf "%s%s", toupper(substr($i, 1, 1)), substr($i, 2) }' <<<"$1"
}

# run_test LOG TEST: succeeds if the test passes.
run_test() {
    timeout 600 swift test --skip-build --no-parallel --filter "$suite/$2" >"$1" 2>&1
}

# remove NAME PLACE: removes a guard, runs its test, restores the guard, and returns whether the test has failed.
remove() {
    local name=$1 test log=.run/guards-$1.log
    test=$(test_of "$name")
    cp "$2" "$copy"
    changed=$2
    sed -i.guard "/\/\/ guard: $name\$/d" "$2"
    rm -f "$2.guard"
    phase "Without" ".run/guards-build.log" swift build --build-tests
    if run_test "$log" "$test"; then
        restore
        echo "error: without the guard '$name', $suite/$test still passes" >&2
        return 1
    fi
    restore
    if ! grep -aqE '^✘ Test .* recorded an issue' "$log"; then
        echo "error: without the guard '$name', $suite/$test did not run; see $log" >&2
        return 1
    fi
    printf 'Without the guard "%s" (%s), this fails:\n' "$name" "$2"
    grep -aE '^✘ Test .* (recorded an issue|failed)' "$log" | cut -c 1-200 | head -n 3
}

trap 'restore; rm -f "$copy"' EXIT
trap 'exit 1' INT TERM

mkdir -p .run
marks=$(grep -rnoE '// guard: [a-z-]+$' Sources | sed -E 's|^([^:]+):[0-9]+:// guard: (.*)$|\2 \1|')
for name in compare-and-set epoch termination; do
    grep -q "^$name " <<<"$marks" && continue
    echo "error: no line in Sources is marked as the guard '$name'" >&2
    exit 1
done

phase "Build" .run/guards-build.log swift build --build-tests
while read -r name place; do
    require_tests -- "^$suite/$(test_of "$name")"
    if ! run_test ".run/guards-$name.log" "$(test_of "$name")"; then
        echo "error: $suite/$(test_of "$name") fails even with the guard '$name'; see .run/guards-$name.log" >&2
        exit 1
    fi
done <<<"$marks"

status=0
# The marks are read from another descriptor, because the commands in the loop read the standard input.
while read -r -u 3 name place; do
    remove "$name" "$place" || status=1
done 3<<<"$marks"
phase "Restored" .run/guards-build.log swift build --build-tests
exit "$status"
