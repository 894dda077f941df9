#!/usr/bin/env python3
"""Compares the table "C libraries" in Documentation/Build/Library.md with the manifest, from `swift package
dump-package` on standard input.

`make libraries` shows that the manifest is complete, by building each product; that takes minutes.
"""

import json
import re
import sys

# The Debian packages of the libraries that C++ targets link.
LINKED = {"simdjson": "libsimdjson-dev", "re2": "libre2-dev"}

package = json.load(sys.stdin)
targets = {target["name"]: target for target in package["targets"]}
products = {product["name"]: product["targets"] for product in package["products"]}


def packages_of(name, seen):
    """The Debian packages that a target and its dependencies need."""
    if name in seen or name not in targets:
        return set()
    seen.add(name)
    target = targets[name]
    found = {apt for provider in target.get("providers") or [] for names in provider.get("apt", []) for apt in names}
    for setting in target["settings"]:
        if library := setting["kind"].get("linkedLibrary"):
            found.add(LINKED[library["_0"]])
    for dependency in target["dependencies"]:
        kind, value = next(iter(dependency.items()))
        if kind in ("byName", "target"):
            found |= packages_of(value[0], seen)
    return found


with open("Documentation/Build/Library.md") as page:
    table = page.read().split("| product | Debian packages |\n")[1].split("\n\n")[0].splitlines()[1:]
wrong = 0
for row in table:
    names, stated = (set(re.findall(r"`([^`]+)`", cell)) for cell in row.split("|")[1:3])
    for name in sorted(names):
        needed = set().union(*(packages_of(target, set()) for target in products[name]))
        if needed != stated:
            print(f"Documentation/Build/Library.md: {name} needs {sorted(needed)}, not {sorted(stated)}", file=sys.stderr)
            wrong += 1
sys.exit(1 if wrong else 0)
