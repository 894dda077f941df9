#!/usr/bin/env python3
"""Runs `sluice serve` under honest senders and attackers for a long time, on the loopback interface only.

    scripts/soak.py PROGRAM MINUTES POSTGRES_URL

The server speaks TLS, has write keys with limits, a journal with a small retention, and delivers to PostgreSQL, whose tables exist.
Every 10 s the script takes the server's memory, open files and threads from /proc, and the sizes of the journal and the
quarantine. At the end it compares the medians of the quarters. The exit status is 1 if memory, open files or threads of the last
quarter exceed those of the second, if a sender got another answer than the right one, or if the number of accepted events is not
the number of rows and of events in the journal.
"""
import asyncio
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

from attack import MIB, Server, folder_bytes
from soak_senders import Target, all_senders

SAMPLE_SECONDS = 10
# By how much the median of the last quarter may exceed that of the second; the first quarter fills caches and pools.
MAXIMUM_GROWTH = {"memory, MiB": 16, "open files": 16, "threads": 2}
# How long PostgreSQL may take for the last events.
DELIVERY_SECONDS = 120
KEYS = {
    "shop": ["--rate", "5000"],
    "app": ["--rate", "2000"],
    "slow": ["--rate", "20"],
    "attacker": ["--rate", "2000"],
}
SETTINGS = {
    # A segment has a quarter of this.
    "SLUICE_JOURNAL_MAXIMUM_BYTES": str(128 * MIB),
    "SLUICE_JOURNAL_RETENTION_BYTES": str(64 * MIB),
    "SLUICE_QUARANTINE_CAPACITY_IN_BYTES": str(256 * MIB),
}


def make_certificate(folder):
    certificate, key = os.path.join(folder, "server.pem"), os.path.join(folder, "server.key")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
         "-keyout", key, "-out", certificate, "-subj", "/CN=soak", "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, stderr=subprocess.DEVNULL)
    return certificate, key


def rows(url):
    query = "select count(*) from analytics.item_purchased"
    return int(subprocess.run(["psql", "-X", "-At", url, "-c", query], check=True, stdout=subprocess.PIPE, text=True).stdout)


def sample(server, target):
    process = f"/proc/{server.process.pid}"
    with open(f"{process}/status") as status:
        fields = dict(line.split(":", 1) for line in status)
    return {
        "memory, MiB": int(fields["VmRSS"].split()[0]) / 1024,
        "open files": len(os.listdir(f"{process}/fd")),
        "threads": int(fields["Threads"]),
        "journal, MiB": folder_bytes(server.journal) / MIB,
        "quarantine, MiB": folder_bytes(server.quarantine) / MIB,
        "accepted events": target.accepted,
    }


async def take_samples(server, target, samples):
    while await target.pause(SAMPLE_SECONDS):
        if server.process.poll() is not None:
            raise RuntimeError("The server ended:\n" + server.text()[-4000:])
        samples.append(sample(server, target))
        if len(samples) % (60 // SAMPLE_SECONDS) == 0:
            print("  " + ", ".join(f"{name} {value:,.0f}" for name, value in samples[-1].items()), flush=True)


async def run_sender(target, sender):
    """Notes a sender that ends too early; the others go on."""
    try:
        await sender
    except Exception as error:
        target.wrong[f"{sender.__name__} ended with {error!r}"] += 1


async def run_all(server, target, samples, folder):
    async with asyncio.TaskGroup() as group:
        group.create_task(take_samples(server, target, samples))
        for sender in all_senders(target, folder):
            group.create_task(run_sender(target, sender))


def wait_for_rows(url, expected):
    deadline = time.monotonic() + DELIVERY_SECONDS
    while rows(url) != expected and time.monotonic() < deadline:
        time.sleep(0.2)


def quarters(samples):
    size = len(samples) // 4
    return [samples[index * size:(index + 1) * size] for index in range(4)]


def judge_growth(samples):
    """Prints the medians of the quarters; returns the bounds that were exceeded."""
    broken, parts = [], quarters(samples)
    print(f"\n{'median':22}" + "".join(f"{f'quarter {index}':>12}" for index in range(1, 5)))
    for name in samples[0]:
        values = [statistics.median(entry[name] for entry in part) for part in parts]
        line = f"{name:22}" + "".join(f"{value:12,.1f}" for value in values)
        if bound := MAXIMUM_GROWTH.get(name):
            line += f"    (bound: quarter 2 + {bound})"
            if values[3] - values[1] > bound:
                broken.append(f"{name} grew by {values[3] - values[1]:,.1f}")
        print(line)
    return broken


def judge(target, samples, ended, stored):
    """Prints what happened; returns what is wrong."""
    print("\noutcomes")
    for name, outcomes in sorted(target.outcomes.items()):
        print(f"  {name:45} " + ", ".join(f"{outcome}: {count:,}" for outcome, count in outcomes.items()))
    broken = judge_growth(samples)
    journaled = ended["journal"]["nextSequence"]
    removed = ended["journal"]["firstSequence"]
    print(f"\n{target.accepted:,} events were accepted; PostgreSQL has {stored:,} rows; the journal ends at {journaled:,}, "
          f"and {removed:,} events were removed from it")
    bounds = {
        "the rows are the accepted events": stored == target.accepted,
        "the journal counts the accepted events": journaled == target.accepted,
        "the slow key is limited": any(outcomes[429] for name, outcomes in target.outcomes.items() if "(slow" in name),
        "the server ends in order": ended["status"] == 0,
        "the server logs no errors": not re.search(r" (error|critical) sluice:", ended["log"]),
    }
    return (broken + [bound for bound, holds in bounds.items() if not holds]
            + [f"wrong: {outcome} ({count} times)" for outcome, count in target.wrong.items()])


def main():
    program, minutes, url = sys.argv[1], float(sys.argv[2]), sys.argv[3]
    if minutes < 2:
        raise SystemExit("A soak takes at least 2 minutes.")
    samples, ended = [], {}
    with tempfile.TemporaryDirectory(prefix="sluice-soak-") as folder:
        certificate, key = make_certificate(folder)
        options = ("--certificate", certificate, "--private-key", key, "--postgres", url)
        server = Server(program, KEYS, options, SETTINGS)

        def look_at_files():
            ended["journal"] = json.loads(server.run_command("journal", "inspect", server.journal, "--json"))
            ended["log"] = server.text()

        try:
            target = Target(server.port, certificate, server.keys, minutes * 60)
            print(f"{minutes:g} minutes; each minute:", flush=True)
            asyncio.run(run_all(server, target, samples, folder))
            wait_for_rows(url, target.accepted)
        finally:
            _, _, _, ended["status"] = server.stop(look_at_files)
    broken = judge(target, samples, ended, rows(url))
    if broken:
        raise SystemExit("\nBroken bounds:\n" + "\n".join(broken))
    print("\nEvery bound held.")


if __name__ == "__main__":
    main()
