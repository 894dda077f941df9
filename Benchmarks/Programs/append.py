#!/usr/bin/env python3
"""Writes the events of all deliveries to a file, and answers each delivery: append.py FILE

It does the least that the protocol `lines` asks of a program: it copies the bytes as they arrive, and looks at no event."""

import json
import sys

PIECE_BYTES = 128 << 10

with open(sys.argv[1], "wb") as file:
    while header := sys.stdin.buffer.readline():
        delivery = json.loads(header)
        rest = delivery["bytes"]
        while rest > 0:
            piece = sys.stdin.buffer.read1(min(rest, PIECE_BYTES))
            if not piece:
                sys.exit("The input ended within a delivery.")
            file.write(piece)
            rest -= len(piece)
        file.flush()
        print(json.dumps({"delivery": delivery["delivery"]}), flush=True)
