#!/usr/bin/env python3
"""Compares the public API with the one of the latest release, from the symbol graphs that `make docs` extracts.

usage: api.py FOLDER FILE [--accept]

FOLDER has a folder of symbol graphs for each module; FILE has a line for each public declaration of the release and for each conformance.
One that is missing or has changed breaks programs, and is an error; so is a new requirement of a protocol of the release without a
default implementation. A new case of an enumeration is not found. --accept writes FILE anew.
"""

import json
import pathlib
import sys

# What the compiler adds to almost every type, depending on its version.
IMPLICIT = ("Swift.Copyable", "Swift.Escapable", "Swift.BitwiseCopyable", "Swift.SendableMetatype")

folder, file = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])


def read():
    """The lines of the API, and the names of the requirements that every conforming type has to fulfil."""
    lines, requirements = set(), {}
    for path in folder.glob("*/*.symbols.json"):
        graph = json.loads(path.read_text())
        module = path.parent.name
        names = {}
        for symbol in graph["symbols"]:
            # Blocks of extensions are only a form of the documentation.
            if symbol["accessLevel"] not in ("public", "open") or symbol["kind"]["identifier"] == "swift.extension":
                continue
            name = names[symbol["identifier"]["precise"]] = ".".join(symbol["pathComponents"])
            text = "".join(fragment["spelling"] for fragment in symbol["declarationFragments"])
            lines.add(f"{module} {name}: {' '.join(text.split())}")
        defaults = {edge["target"] for edge in graph["relationships"] if edge["kind"] == "defaultImplementationOf"}
        for edge in graph["relationships"]:
            source = names.get(edge["source"])
            if source and edge["kind"] in ("conformsTo", "inheritsFrom"):
                target = edge.get("targetFallback") or names.get(edge["target"], edge["target"])
                if target not in IMPLICIT:
                    lines.add(f"{module} {source}: {edge['kind']} {target}")
            if source and edge["kind"] == "requirementOf" and edge["source"] not in defaults:
                requirements[f"{module} {source}: "] = f"{module} {names.get(edge['target'], '')}: "
    return lines, requirements


current, requirements = read()
if not current:
    sys.exit(f"error: there are no symbol graphs in {folder}")
if "--accept" in sys.argv[3:]:
    file.write_text("\n".join(sorted(current)) + "\n")
    print(f"{file}: {len(current)} declarations")
    sys.exit()
released = set(file.read_text().splitlines())
if not released:
    sys.exit(f"error: {file} is empty")
broken = [f"the release has this, and it is missing or has changed: {line}" for line in sorted(released - current)]
for requirement, protocol in sorted(requirements.items()):
    if any(line.startswith(protocol) for line in released) and not any(line.startswith(requirement) for line in released):
        broken.append(f"a protocol of the release has a new requirement without a default: {requirement[:-2]}")
for sentence in broken:
    print(f"error: {sentence}", file=sys.stderr)
if broken:
    print("See RELEASING.md for what to do if that is meant.", file=sys.stderr)
    sys.exit(1)
print(f"API          … {len(released)} declarations of the release, {len(current - released)} new ones")
