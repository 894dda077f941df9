#!/usr/bin/env bash
# The real events in Examples/data; to be sourced.
set -euo pipefail

readonly retail_day=Examples/data/retail-2010-12-01.ndjson.gz

# Prints them, one a line.
retail_lines() {
    gzip -dc "$retail_day"
}
