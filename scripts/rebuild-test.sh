#!/usr/bin/env bash
# Tests when the build plugin generates Swift: adds, edits, breaks and deletes plan files in the example that uses the
# plugin, and builds it after each step. All added files are removed at the end, even after a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib/packages.sh

package=Examples/hummingbird-app
sources=$package/Sources/App
generated=.build/plugins/outputs/hummingbird-app/App/destination/EventCodegenPlugin/GeneratedEvents.swift
# A path with spaces and non-ASCII letters.
plan="$sources/Events/Extra events/Küche.plist"
caller=$sources/RebuildTest.swift
written=$sources/GeneratedEvents.swift
options=$sources/event-codegen.json
work=$(mktemp -d "${TMPDIR:-/tmp}/sluice-rebuild.XXXXXX")

clean_up() {
    rm -rf "$work" "$(dirname "$plan")" "$caller" "$written" "$options"
    forget_plan
}
trap clean_up EXIT
trap 'exit 1' INT TERM

# fail SENTENCE [LOG]: prints the sentence and the end of the log, and exits.
fail() {
    printf 'rebuild-test: %s\n' "$1" >&2
    [[ $# -lt 2 ]] || tail -n 30 "$2" >&2
    exit 1
}

build() {
    swift build --package-path "$package" --scratch-path .build --target App "$@" >"$work/build.log" 2>&1
}

# must_build CASE: builds, or fails with the case.
must_build() {
    build || fail "$1: the build fails" "$work/build.log"
}

must_generate() {
    grep -qF "$2" "$generated" || fail "$1: '$2' is not in GeneratedEvents.swift"
}

# write_plan TYPE [PROPERTY]: writes a plan with the event Dish Cooked, a property of the type and optionally another one.
write_plan() {
    mkdir -p "$(dirname "$plan")"
    {
        echo '<?xml version="1.0" encoding="UTF-8"?>'
        echo '<plist version="1.0"><dict><key>events</key><dict><key>Dish Cooked</key><dict>'
        echo '<key>registeredTrackers</key><array><string>console</string></array>'
        echo '<key>payload</key><dict>'
        echo "<key>dish</key><string>$1</string>"
        [[ $# -lt 2 ]] || echo "<key>$2</key><string>integer</string>"
        echo '</dict></dict></dict></dict></plist>'
    } >"$plan"
}

# call ARGUMENTS: writes a Swift file that compiles only if the event has exactly these properties.
call() {
    printf 'let dishCooked = AppEvents.DishCooked(%s)\n' "$1" >"$caller"
}

# must_write_nothing CASE: builds, and fails if the build writes a file of the target.
must_write_nothing() {
    touch "$work/marker"
    build --verbose || fail "$1: the build fails" "$work/build.log"
    find .build/debug/App.build "$generated" -type f -newer "$work/marker" >"$work/written"
    [[ ! -s $work/written ]] || fail "$1, but files are written" "$work/written"
    must_not_run "$1" 'swiftc.* -module-name App '
}

# must_not_run CASE PATTERN: fails if a command of the last build matches the pattern.
must_not_run() {
    if grep -E -- "$2" "$work/build.log" >"$work/commands"; then fail "$1, but tools are run" "$work/commands"; fi
}

forget_plan
must_build "before anything is changed"
cp "$generated" "$work/original.swift"
if grep -q DishCooked "$generated"; then fail "the event of this test is in the plan already"; fi

write_plan string
call 'dish: "Mapo Tofu"'
must_build "a plan file is added"
must_generate "a plan file is added" "struct DishCooked: Sluice.AnalyticsEvent"
must_generate "a plan file is added" "\"file\":\"Events/Extra events/Küche.plist\""

write_plan string minutes
call 'dish: "Mapo Tofu", minutes: 12'
must_build "a plan file is edited"
must_generate "a plan file is edited" "var minutes: Int"

must_write_nothing "nothing is changed"
must_not_run "nothing is changed" 'event-codegen.* --output '
write_plan string minutes
must_write_nothing "a plan file is written again as it was"

write_plan strnig
if build; then fail "a plan file is wrong, but the build succeeds"; fi
grep -qE "/$plan:5:[0-9]+: error: " "$work/build.log" \
    || fail "a plan file is wrong, but no error names its fifth line" "$work/build.log"

rm -r "$(dirname "$plan")"
if build; then fail "a plan file is deleted, but its event can still be used"; fi
grep -q "RebuildTest.swift:1:.*error: type 'AppEvents' has no member 'DishCooked'" "$work/build.log" \
    || fail "a plan file is deleted, but the build fails for another reason" "$work/build.log"
rm "$caller"
must_build "a plan file and its caller are deleted"
cmp "$generated" "$work/original.swift" || fail "the plan is as before, but the generated Swift differs"

generate_events() {
    swift package --package-path "$package" --scratch-path .build --allow-writing-to-package-directory generate-events >"$work/build.log" 2>&1
}

echo '{}' >"$options"
if generate_events; then fail "generate-events takes one of two event-codegen.json"; fi
grep -q "The target 'App' has more than one event-codegen.json" "$work/build.log" \
    || fail "there are two event-codegen.json, but generate-events fails for another reason" "$work/build.log"
rm "$options"
generate_events || fail "generate-events fails" "$work/build.log"
cmp "$written" "$generated" || fail "generate-events and the build plugin write different Swift"
if build; then fail "the build plugin accepts generated Swift of the other plugin"; fi
grep -q "error: The target 'App' has its events twice" "$work/build.log" \
    || fail "the Swift of both plugins is there, but the build fails for another reason" "$work/build.log"

echo "The build plugin generates Swift when plans are added, edited and deleted, and only then."
