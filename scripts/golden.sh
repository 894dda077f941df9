#!/usr/bin/env bash
# Regenerates the golden files, for review; GoldenTests and JustTrackStyleTests compare them with the generator's output.
set -euo pipefail
cd "$(dirname "$0")/.."

# golden FOLDER FILE [OPTION…]: generates the Swift of the plan in a folder.
golden() {
    local folder=$1 file=$2
    shift 2
    swift run -q event-codegen "$folder" --root "$folder" --output "$folder/$file" "$@"
}

golden Tests/Golden/Shapes GeneratedEvents.swift --access-level public --namespace ShapesEvents
golden Tests/Golden/Client GeneratedEvents.swift --access-level public --namespace ClientShapes --library SluiceClient
golden Tests/Golden/Names GeneratedEvents.swift --access-level public --namespace NamesEvents
golden Tests/JustTrackApp TrackingEvents.swift --style justtrack
