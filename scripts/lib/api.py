#!/usr/bin/env python3
"""Compares the public API with the one of the latest release, from the symbol graphs that `make docs` extracts.

usage: api.py FOLDER FILE [--accept]

FOLDER has a folder of symbol graphs for each module; FILE has a line for each public declaration of the release. A declaration
that is missing or has changed breaks programs, and is an error; new ones are allowed. --accept writes FILE anew.
"""

import json
import pathlib
import sys

folder, file = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])


def declarations():
    """A line for each declaration: the module, the path and the text."""
    lines = set()
    for path in folder.glob("*/*.symbols.json"):
        for symbol in json.loads(path.read_text())["symbols"]:
            # Blocks of extensions are only a form of the documentation.
            if symbol["accessLevel"] not in ("public", "open") or symbol["kind"]["identifier"] == "swift.extension":
                continue
            text = "".join(fragment["spelling"] for fragment in symbol["declarationFragments"])
            lines.add(f"{path.parent.name} {'.'.join(symbol['pathComponents'])}: {' '.join(text.split())}")
    return lines


current = declarations()
if not current:
    sys.exit(f"error: there are no symbol graphs in {folder}")
if "--accept" in sys.argv[3:]:
    file.write_text("\n".join(sorted(current)) + "\n")
    print(f"{file}: {len(current)} declarations")
    sys.exit()
released = set(file.read_text().splitlines())
broken = sorted(released - current)
for line in broken:
    print(f"error: the release has this declaration, and it is missing or has changed: {line}", file=sys.stderr)
if broken:
    print("See RELEASING.md for what to do if that is meant.", file=sys.stderr)
    sys.exit(1)
print(f"API          … {len(released)} declarations of the release, {len(current - released)} new ones")
