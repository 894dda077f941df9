#!/usr/bin/env python3
"""Writes Documentation/Operate/Commands.md from the help and the metrics of the command, and deploy/sluice.example.yaml
from its settings; a test compares them.

    scripts/command-reference.py [--print] [SLUICE]

SLUICE is the program. Default: the debug build. With --print, prints the page, and writes nothing.

An option that several commands take, with the same help, is described once: with the command whose subcommands they are,
or at the top of the page. If options of one name have different help there, only the most common one is.
"""
import argparse
import os
import re
import subprocess
import sys
import textwrap
from collections import defaultdict
from pathlib import Path

SECTION = re.compile(r"^(OVERVIEW|USAGE|ARGUMENTS|OPTIONS|SUBCOMMANDS):", re.MULTILINE)
OPTION = re.compile(r"^  -.*\n(?: {26}.*\n)*", re.MULTILINE)
WIDTH = 120
PAGE = "Documentation/Operate/Commands.md"
EXAMPLE = "deploy/sluice.example.yaml"
INTRODUCTION = """\
# Commands

Every command with its options, and every metric ([sluice metrics](#sluice-metrics)). Every setting with its default is
in [{example}](../../{example}). `scripts/command-reference.py` writes this page.

Every command takes {universal}. Its usage leaves out the options that it shares with others: they are after
ALSO, and are described with the command above it (`sluice keys` for `sluice keys new`), or else in the first section.

## Options of several commands

```
{shared}
```
"""


class Command:
    """The help of a command, whose path is `("keys", "new")` for `sluice keys new`."""

    def __init__(self, path, text):
        self.path = path
        found = SECTION.split(text)
        self.sections = {name: body.strip("\n") for name, body in zip(found[1::2], found[2::2])}
        options = self.sections.get("OPTIONS", "") + "\n"
        self.options = OPTION.findall(options)
        self.subcommands = re.findall(r"^  ([a-z][a-z-]*)(?: |$)", self.sections.get("SUBCOMMANDS", ""), re.MULTILINE)
        if "".join(self.options) != options.lstrip("\n"):
            sys.exit(f"command-reference: the options of 'sluice {' '.join(path)}' have an unknown layout")


class Reference:
    """The commands with the options that several of them take, and what the page says below some of them."""

    def __init__(self, commands, notes):
        self.commands = commands
        self.notes = notes
        takers = defaultdict(list)
        for command in commands:
            for option in command.options:
                takers[option].append(command.path)
        self.universal = [option for option, paths in takers.items() if len(paths) == len(commands)]
        # By the path of the command that they are described with, and by name.
        self.shared = defaultdict(dict)
        for option, paths in sorted(takers.items(), key=lambda item: -len(item[1])):
            if 1 < len(paths) < len(commands):
                self.shared[os.path.commonprefix(paths)].setdefault(name(option), option)

    def is_described_above(self, option, path):
        """Whether a reader who looks for the option's name above the command finds this option."""
        above = [self.shared[path[:length]].get(name(option)) for length in reversed(range(len(path)))]
        return option in self.universal or next(filter(None, above), None) == option

    def page(self):
        introduction = INTRODUCTION.format(
            example=EXAMPLE,
            universal=" and ".join(f"`{name(option)}`" for option in self.universal),
            shared=listing(self.shared[()].values()),
        )
        return "\n".join([introduction] + [self.section(command) for command in self.commands if command.path])

    def section(self, command):
        own = [option for option in command.options if not self.is_described_above(option, command.path)]
        also = sorted(name(option) for option in command.options if option not in own + self.universal)
        further = [option for option in self.shared[command.path].values() if option not in own]
        usage = re.sub(
            r" \[(--[a-z-]+)[^]]*\]", lambda found: "" if found[1] in also else found[0], command.sections["USAGE"]
        )
        parts = [command.sections["OVERVIEW"].lstrip(), f"USAGE:{usage}"]
        if "ARGUMENTS" in command.sections:
            parts.append("ARGUMENTS:\n" + command.sections["ARGUMENTS"])
        if own:
            parts.append("OPTIONS:\n" + "".join(own).rstrip())
        if further:
            parts.append("SHARED OPTIONS:\n" + listing(further))
        if also:
            parts.append(textwrap.fill(f"ALSO: {', '.join(also)}", WIDTH, break_on_hyphens=False))
        help = "\n\n".join(parts)
        note = self.notes.get(command.path)
        return f"## sluice {' '.join(command.path)}\n\n```\n{help}\n```\n" + (f"\n{note}" if note else "")


def name(option):
    """The long name of an option: `--output` of `-o, --output <file>`, and `--console/--no-console` of a flag with two."""
    return re.search(r"--[^\s,]+", option)[0]


def listing(options):
    return "".join(sorted(options, key=name)).rstrip()


def run(program, *arguments):
    environment = {**os.environ, "COLUMNS": str(WIDTH)}
    result = subprocess.run([program, *arguments], env=environment, stdout=subprocess.PIPE, check=True, text=True)
    return result.stdout


def read(program, path=()):
    """A command, and its subcommands."""
    text = re.sub(r"[ \t]+$", "", run(program, *path, "--help"), flags=re.MULTILINE)
    command = Command(path, text)
    return [command] + [found for child in command.subcommands for found in read(program, (*path, child))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--print", action="store_true")
    parser.add_argument("sluice", nargs="?", default=".build/debug/sluice")
    options = parser.parse_args()
    os.chdir(Path(__file__).parent.parent)
    if not os.access(options.sluice, os.X_OK):
        sys.exit(f"command-reference: there is no {options.sluice}; run: swift build --product sluice")
    example = run(options.sluice, "config", "example")
    notes = {
        ("config", "example"): f"Its output is [{EXAMPLE}](../../{EXAMPLE}).\n",
        ("metrics",): "Its output:\n\n" + run(options.sluice, "metrics"),
    }
    page = Reference(read(options.sluice), notes).page()
    if options.print:
        print(page, end="")
    else:
        Path(PAGE).write_text(page)
        Path(EXAMPLE).write_text(example)


main()
