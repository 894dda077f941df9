"""Reads an exposition from standard input with Prometheus' own parser, and prints it as JSON: one value for each series.

The keys are such as `sluice_events_accepted_total event=Sold`, with the labels in alphabetical order.
"""

import json
import sys

from prometheus_client.parser import text_string_to_metric_families


def main():
    values = {}
    for family in text_string_to_metric_families(sys.stdin.read()):
        if not family.documentation:
            raise SystemExit(f"{family.name} has no description")
        for sample in family.samples:
            labels = "".join(f" {name}={value}" for name, value in sorted(sample.labels.items()))
            if values.setdefault(sample.name + labels, sample.value) != sample.value:
                raise SystemExit(f"{sample.name}{labels} is there twice")
    json.dump(values, sys.stdout)


main()
