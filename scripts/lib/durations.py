#!/usr/bin/env python3
"""Writes how long each test took to durations.tsv, and prints the slowest.

    durations.py FOLDER     the folder has the tests' xUnit files, of which FOLDER/durations.tsv is made
"""

import pathlib
import sys
import xml.etree.ElementTree

SHOWN = 20

folder = pathlib.Path(sys.argv[1])
durations = sorted(
    (
        (float(case.get("time")), case.get("classname"), case.get("name"))
        for file in folder.glob("*.xml")
        for case in xml.etree.ElementTree.parse(file).iter("testcase")
    ),
    reverse=True,
)
with open(folder / "durations.tsv", "w") as table:
    for seconds, suite, name in durations:
        print(f"{seconds:.2f}\t{suite}\t{name}", file=table)
total = sum(seconds for seconds, _, _ in durations)
print(f"{len(durations)} tests took {total:.0f} s; the slowest:")
for seconds, suite, name in durations[:SHOWN]:
    print(f"  {seconds:6.1f} s  {suite}/{name}")
