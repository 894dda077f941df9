#!/usr/bin/env python3
"""Appends events to a file, and answers each delivery once they are on disk: append.py FILE

Refuses the events called Item Returned, to show how that is done."""

import json
import os
import sys

with open(sys.argv[1], "a+b") as file:
    # A process that was killed may have left a part of a line.
    if file.seek(0, os.SEEK_END) and file.seek(-1, os.SEEK_END) >= 0 and file.read(1) != b"\n":
        file.write(b"\n")
    while header := sys.stdin.buffer.readline():
        delivery = json.loads(header)
        refused = []
        for position in range(delivery["events"]):
            line = sys.stdin.buffer.readline()
            if json.loads(line)["name"] == "Item Returned":
                refused.append({"event": position, "reason": "Returns belong elsewhere."})
            else:
                file.write(line)
        file.flush()
        os.fsync(file.fileno())
        print(json.dumps({"delivery": delivery["delivery"], "refused": refused}), flush=True)
