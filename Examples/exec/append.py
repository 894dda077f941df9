#!/usr/bin/env python3
"""Appends events to a file, and answers each delivery once they are on disk: append.py FILE"""

import json
import os
import sys

with open(sys.argv[1], "ab") as file:
    while header := sys.stdin.buffer.readline():
        delivery = json.loads(header)
        answer = {"delivery": delivery["delivery"]}
        refused = []
        for position in range(delivery["events"]):
            line = sys.stdin.buffer.readline()
            if json.loads(line)["name"] == "Item Returned":
                refused.append({"event": position, "reason": "Returns belong elsewhere."})
            else:
                file.write(line)
        file.flush()
        os.fsync(file.fileno())
        print(json.dumps(answer | {"refused": refused}), flush=True)
