#!/usr/bin/env python3
"""Attacks `sluice serve` with hostile requests, on the loopback interface only, and compares it with its documented limits.

    scripts/attack.py PROGRAM [--short]

Each attack has its own server and a bounded number of requests. The script prints the longest time that one body occupied an
event loop (processor time, as measured by the server), the slowest response of /livez in the meantime, the server's peak memory,
the growth of the quarantine, and the longest response. In the last attacks one key sends as much garbage as it can, or holds as many
connections as it can, or senders without a key do, while another key sends valid events at a steady rate. Two attacks concern the ports
themselves: frames of HTTP/2, and connections of the private port that trickle. The exit status is 1 if a limit was exceeded.
"""
import asyncio
import collections
import contextlib
import gzip
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import attack_frames

KIB, MIB = 1 << 10, 1 << 20
# The limits that the pages in Documentation/Send and Documentation/Trust state.
MAXIMUM_ANSWER_BYTES = 256 * KIB
QUARANTINE_BYTES_BESIDES_BODY = 64 * KIB
# The limit for connections, bodies and responses (http.maximumBufferedBytes, 192 MiB by default), plus an allowance for the rest
# of the process; an idle server has 46 MiB.
MAXIMUM_MEMORY_BYTES = (192 + 96) * MIB
# About how long a service manager waits for /livez.
MAXIMUM_LIVEZ_SECONDS = 5
# The promise is about 20 ms on the reference machine; other machines may be five times as slow.
MAXIMUM_STRETCH_MILLISECONDS = 100
MAXIMUM_SECONDS = 240
# What an honest key keeps of its throughput while another key sends garbage.
MINIMUM_HONEST_SHARE = 0.9
# What the quarantine keeps for one key (Documentation/Send/WriteKeys.md).
KEY_QUARANTINE_BYTES_AT_ONCE, KEY_QUARANTINE_BYTES_PER_SECOND = 16 * MIB, 64 * KIB

PLAN_EVENT = "Item Purchased"
VALID = json.dumps({
    "name": PLAN_EVENT,
    "payload": {"invoiceNo": "536365", "stockCode": "85123A", "quantity": 6, "unitPrice": 2.55,
                "country": "United Kingdom"},
}, separators=(",", ":"))
TEN_MISTAKES = json.dumps(
    {"name": PLAN_EVENT, "payload": {key: 1 for key in "abcdefghij"}}, separators=(",", ":"))
UNKNOWN = '{"name":"No Such Event"}'
UNPLANNED = '{"name":"%s","payload":{"no":1}}' % PLAN_EVENT


class Server:
    """A `sluice serve` on a free port, with a journal and a quarantine in a temporary folder.

    `keys` has the name of each write key with the options of `sluice keys new`, `options` are those of `sluice serve`, and
    `settings` environment variables.
    """

    def __init__(self, program, keys={}, options=(), settings={}):
        self.program = program
        self.folder = tempfile.TemporaryDirectory(prefix="sluice-attack-")
        self.log_path = os.path.join(self.folder.name, "log")
        self.quarantine = os.path.join(self.folder.name, "quarantine")
        self.journal = os.path.join(self.folder.name, "journal")
        self.log = open(self.log_path, "w")
        environment = {k: v for k, v in os.environ.items()
                       if not k.startswith("SLUICE_") and k not in ("DATABASE_URL", "KAFKA_BROKERS")}
        environment |= {"SLUICE_ADMIN_LISTEN": "127.0.0.1:0", "SLUICE_LOG_FORMAT": "text"} | settings
        self.process = None
        self.key_file = os.path.join(self.folder.name, "keys.json")
        self.keys = {name: self.run_command("keys", "new", name, "--keys", self.key_file, *limits).strip()
                     for name, limits in keys.items()}
        try:
            self.start(program, options, environment)
            self.port = self.wait_for_port()
        except BaseException:
            self.stop()
            raise

    def start(self, program, options, environment):
        if self.keys:
            options = ("--keys", self.key_file, *options)
        self.process = subprocess.Popen(
            [program, "serve", "--listen", "127.0.0.1:0", "--events", "events", "--no-console", "--max-wait", "60",
             "--journal", self.journal, "--quarantine", self.quarantine, *options],
            stdout=subprocess.DEVNULL, stderr=self.log, env=environment)

    def run_command(self, *arguments):
        return subprocess.run([self.program, *arguments], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True).stdout

    def text(self):
        with open(self.log_path) as file:
            return file.read()

    def wait_for_port(self):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.process.poll() is None:
            match = re.search(r"url=https?://127\.0\.0\.1:(\d+)/", self.text())
            if match:
                return int(match.group(1))
            time.sleep(0.02)
        raise SystemExit("sluice serve did not start:\n" + self.text())

    def peak_memory(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) * KIB for line in status if line.startswith("VmHWM:"))

    def quarantine_bytes(self):
        return folder_bytes(self.quarantine)

    def quarantined_names(self):
        """The names of the events in the quarantine."""
        lines = self.run_command("quarantine", "list", "--json", "--limit", "1000000", "--quarantine", self.quarantine)
        return collections.Counter(json.loads(line).get("event") for line in lines.splitlines())

    def stop(self, before_removal=lambda: None):
        """Ends the server, by force if it does not end by itself, and removes its folder.

        Returns the longest time on an event loop in milliseconds (None if it was not logged), the number of turns, the size of the
        quarantine in bytes, which is complete by then, and the exit status.
        """
        try:
            if self.process is None:
                return None, 0, 0, None
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=120)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            before_removal()
            match = re.search(r"longestStretchMilliseconds=([0-9.]+)", self.text())
            turns = re.search(r"turns=(\d+)", self.text())
            return (float(match.group(1)) if match else None, int(turns.group(1)) if turns else 0,
                    self.quarantine_bytes(), self.process.returncode)
        finally:
            if self.process is not None and self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            self.log.close()
            self.folder.cleanup()


def folder_bytes(root):
    """The size of the files in a folder; retention may remove one in the meantime."""
    total = 0
    for folder, _, names in os.walk(root):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                total += os.path.getsize(os.path.join(folder, name))
    return total


# What a sender may get instead of a response.
NO_ANSWER = (OSError, EOFError, ValueError, asyncio.LimitOverrunError, asyncio.TimeoutError)


async def read_answer(reader):
    head = await reader.readuntil(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    if length is None:
        raise ValueError("an answer without a length")
    body = await reader.readexactly(int(length.group(1)))
    return int(head[9:12]), len(head) + len(body), body


async def send(port, request):
    """Sends one request on a new connection; returns its status (0 without a response) and the size of the response."""
    writer = None
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        await writer.drain()
        return await read_answer(reader)
    except NO_ANSWER:
        return 0, 0, b""
    finally:
        if writer is not None:
            writer.close()


async def probe(port, stopped, latencies):
    """Requests /livez repeatedly on one connection, which belongs to one of the event loops."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        latencies.append(float("inf"))
        return
    try:
        while not stopped.is_set():
            start = time.monotonic()
            writer.write(b"GET /livez HTTP/1.1\r\nHost: sluice\r\n\r\n")
            try:
                status, _, _ = await asyncio.wait_for(read_answer(reader), MAXIMUM_LIVEZ_SECONDS * 2)
            except NO_ANSWER:
                status = 0
            latencies.append(time.monotonic() - start if status == 200 else float("inf"))
            if status != 200:
                return
            await asyncio.sleep(0.02)
    finally:
        writer.close()


class Probes:
    """Requests /livez from a separate process, which is not delayed by the senders of this one."""

    def __init__(self, port):
        self.stopped = multiprocessing.Event()
        self.results, results = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.Process(target=self.run, args=(port, self.stopped, results), daemon=True)
        self.process.start()
        results.close()
        # Waits for the first responses before the attack begins.
        self.results.recv()

    @staticmethod
    def run(port, stopped, results):
        async def all_probes():
            latencies = []
            # Enough for each event loop to have one, because connections are assigned to the loops in turn.
            probes = [asyncio.create_task(probe(port, stopped, latencies)) for _ in range(2 * (os.cpu_count() or 1))]
            while not latencies:
                await asyncio.sleep(0.01)
            results.send("begun")
            await asyncio.gather(*probes)
            return latencies

        results.send(asyncio.run(all_probes()))

    def stop(self):
        """Returns the latencies in seconds; that of a missing response is infinite."""
        try:
            self.stopped.set()
            return self.results.recv() if self.results.poll(60) else [float("inf")]
        except EOFError:
            return [float("inf")]
        finally:
            self.process.kill()
            self.process.join()


def post(body, content_type, is_gzip, key=None, path="/v1/events"):
    head = (f"POST {path} HTTP/1.1\r\nHost: sluice\r\nContent-Type: application/{content_type}\r\n"
            f"Content-Length: {len(body)}\r\n" + ("Content-Encoding: gzip\r\n" if is_gzip else "")
            + (f"Authorization: Bearer {key}\r\n" if key else "") + "\r\n")
    return head.encode() + body


async def attack(port, request, count):
    """Sends all requests concurrently; those without a response within the time limit have the status 0."""
    senders = [asyncio.create_task(send(port, request)) for _ in range(count)]
    done, late = await asyncio.wait(senders, timeout=MAXIMUM_SECONDS)
    for sender in late:
        sender.cancel()
    return [sender.result() for sender in done] + [(0, 0, b"")] * len(late)


def run(program, name, lines, count, is_gzip, expected):
    """Runs one attack; returns the limits that were exceeded."""
    inflated = "\n".join(lines).encode()
    body = gzip.compress(inflated) if is_gzip else inflated
    server = Server(program)
    before = server.quarantine_bytes()
    try:
        probes = Probes(server.port)
        try:
            start = time.monotonic()
            answers = asyncio.run(attack(server.port, post(body, "x-ndjson", is_gzip), count))
            seconds = time.monotonic() - start
        finally:
            latencies = probes.stop()
        memory = server.peak_memory()
    finally:
        stretch, turns, after, status = server.stop()
    growth = after - before
    longest = max((size for _, size, _ in answers), default=0)
    slowest = max(latencies, default=float("inf"))
    statuses = collections.Counter(status for status, _, _ in answers)
    allowed_growth = count * (len(inflated) + QUARANTINE_BYTES_BESIDES_BODY)
    print(f"\n{name}: {count} requests of {len(body):,} bytes with {len(lines):,} events each, {seconds:.1f} s")
    print(f"  answers             {dict(statuses)}, the longest {longest:,} bytes (bound {MAXIMUM_ANSWER_BYTES:,})")
    print(f"  longest stretch     {stretch} ms on an event loop, {turns:,} turns")
    print(f"  /livez              {len(latencies):,} answers, the slowest after {slowest * 1000:.0f} ms "
          f"(bound {MAXIMUM_LIVEZ_SECONDS} s)")
    print(f"  peak memory         {memory / MIB:.0f} MiB (bound {MAXIMUM_MEMORY_BYTES // MIB} MiB)")
    print(f"  quarantine growth   {growth:,} bytes, {growth / (count * len(inflated)):.2f} for each byte inflated "
          f"(bound {allowed_growth:,})")
    bounds = {
        "every request is answered": statuses[0] == 0,
        f"no status but {expected}": set(statuses) <= expected,
        "at least one request is not turned away": any(statuses[status] for status in expected - {503}),
        "answer size": longest <= MAXIMUM_ANSWER_BYTES,
        "quarantine growth": growth <= allowed_growth,
        "what is rejected is kept": growth > 0 or 422 not in statuses,
        "memory": memory <= MAXIMUM_MEMORY_BYTES,
        "/livez": slowest <= MAXIMUM_LIVEZ_SECONDS,
        "longest stretch": stretch is not None and stretch <= MAXIMUM_STRETCH_MILLISECONDS,
        "the server ends in order": status == 0,
    }
    return exceeded(name, bounds)


HONEST_MISTAKE = "Honest Mistake"


def honest_requests(key):
    return [post("\n".join([VALID] * 10 + ([f'{{"name":"{HONEST_MISTAKE}"}}'] if number % 20 == 0 else [])).encode(),
                 "x-ndjson", False, key) for number in range(20)]


async def send_steadily(port, requests, seconds, rate=200):
    """Sends 20 requests in turn over eight connections, `rate` a second; returns how many were answered with 200, and the mistakes."""
    start, answered, mistakes, position = time.monotonic(), 0, 0, 0

    async def one_connection():
        nonlocal answered, mistakes, position
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        # Without an answer the connection sends nothing more, which the throughput shows.
        with contextlib.suppress(*NO_ANSWER):
            while (due := start + position / rate) < start + seconds:
                number, position = position, position + 1
                await asyncio.sleep(max(0, due - time.monotonic()))
                writer.write(requests[number % 20])
                status, _, _ = await read_answer(reader)
                if time.monotonic() < start + seconds and status == 200:
                    answered += 1
                if status == 200:
                    mistakes += number % 20 == 0
        writer.close()

    await asyncio.gather(*(one_connection() for _ in range(8)))
    return answered, mistakes


async def send_garbage(port, requests, stopped, addresses=("127.0.0.1",), connections=64):
    """Sends each request over several connections from each address, as fast as answers come; returns the statuses."""
    statuses = collections.Counter()

    async def one_connection(request, address):
        while not stopped.is_set():
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
                while not stopped.is_set():
                    writer.write(request)
                    status, _, _ = await asyncio.wait_for(read_answer(reader), MAXIMUM_SECONDS)
                    statuses[status] += 1
                    if status in (413, 503):
                        break
                writer.close()
            except NO_ANSWER:
                statuses[0] += 1

    await asyncio.gather(*(one_connection(request, address) for request in requests for address in addresses
                           for _ in range(connections)))
    return statuses


def run_apart(results, function, *arguments):
    results.send(asyncio.run(function(*arguments)))


def start_apart(function, *arguments):
    """Runs a sender in a process of its own; returns the process, and where its result comes out."""
    results, sender = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=run_apart, args=(sender, function, *arguments), daemon=True)
    process.start()
    return process, results


def run_two_keys(program, seconds):
    """Lets one key send garbage while another sends at a steady rate; returns the limits that were exceeded."""
    # Large bodies, and small ones, which take precedence.
    large, small = ([TEN_MISTAKES] * 9000, [TEN_MISTAKES] * 250)
    server = Server(program, keys={"honest": [], "garbage": []})
    names = collections.Counter()
    try:
        honest = server.keys["honest"]
        alone, mistakes_alone = asyncio.run(send_steadily(server.port, honest_requests(honest), seconds))
        before, start = server.quarantine_bytes(), time.monotonic()
        stopped = multiprocessing.Event()
        requests = [post(gzip.compress("\n".join(lines).encode()), "x-ndjson", True, server.keys["garbage"])
                    for lines in (large, small)]
        garbage, statuses = start_apart(send_garbage, server.port, requests, stopped)
        # Not measured before all connections of the garbage are busy.
        time.sleep(1)
        together, mistakes = asyncio.run(send_steadily(server.port, honest_requests(honest), seconds))
        stopped.set()
        statuses = statuses.recv() if statuses.poll(MAXIMUM_SECONDS) else {}
        garbage.kill()
        garbage_seconds = time.monotonic() - start
        memory = server.peak_memory()
    finally:
        _, _, after, status = server.stop(lambda: names.update(server.quarantined_names()))
    growth = after - before
    # A key's bytes are those of its events; the quarantine adds up to as much for their verdicts.
    allowed_growth = 2 * (KEY_QUARANTINE_BYTES_AT_ONCE + int(garbage_seconds * KEY_QUARANTINE_BYTES_PER_SECOND)) + MIB
    share = together / alone
    print(f"\nan honest key beside one that sends garbage, {seconds} s each")
    print(f"  honest requests     {alone:,} alone, {together:,} beside the garbage: {share:.2f} (bound {MINIMUM_HONEST_SHARE})")
    print(f"  honest mistakes     {mistakes_alone + mistakes:,} sent, {names[HONEST_MISTAKE]:,} in the quarantine")
    print(f"  garbage             {dict(statuses)}")
    print(f"  quarantine growth   {growth:,} bytes (bound {allowed_growth:,})")
    print(f"  peak memory         {memory / MIB:.0f} MiB (bound {MAXIMUM_MEMORY_BYTES // MIB} MiB)")
    bounds = {
        "the honest key keeps its throughput": share >= MINIMUM_HONEST_SHARE,
        "the honest key's rejected events are kept": names[HONEST_MISTAKE] == mistakes_alone + mistakes,
        "the garbage was checked": statuses.get(422, 0) > 0,
        "quarantine growth": growth <= allowed_growth,
        "memory": memory <= MAXIMUM_MEMORY_BYTES,
        "the server ends in order": status == 0,
    }
    return exceeded("two keys", bounds)


# Honest bodies of more than 64 KiB, so that they wait for their turn like the garbage, at a rate that is less than an equal part of the
# time of the event loops for each of the addresses.
KEYLESS_ADDRESSES = ["127.0.0.2", "127.0.0.3"]
BODY_KEY_REQUESTS_PER_SECOND = 20


def run_keyless(program, seconds):
    """Lets senders without a key send garbage beside a client of PostHog, whose key is in the body; returns the exceeded limits."""
    server = Server(program, keys={"honest": []})
    try:
        event = json.dumps({"event": PLAN_EVENT, "properties": json.loads(VALID)["payload"]}, separators=(",", ":"))
        body = '{"batch":[%s],"api_key":"%s"}' % (",".join([event] * (80 * KIB // len(event))), server.keys["honest"])
        honest = [post(body.encode(), "json", False, path="/batch/")] * 20
        alone, _ = asyncio.run(send_steadily(server.port, honest, seconds, BODY_KEY_REQUESTS_PER_SECOND))
        stopped = multiprocessing.Event()
        # 8 KiB each, and 8 MiB inflated.
        garbage = [post(gzip.compress(text.encode()), "json", True, path="/batch/")
                   for text in ("[" + "1," * (4 * MIB - 2) + "1]", '{"batch":["%s"]}' % ("x" * (8 * MIB - 100)))]
        process, results = start_apart(send_garbage, server.port, garbage, stopped, KEYLESS_ADDRESSES, 32)
        time.sleep(1)
        together, _ = asyncio.run(send_steadily(server.port, honest, seconds, BODY_KEY_REQUESTS_PER_SECOND))
        stopped.set()
        statuses = results.recv() if results.poll(MAXIMUM_SECONDS) else {}
        process.kill()
        memory = server.peak_memory()
    finally:
        stretch, _, _, status = server.stop()
    share = together / alone
    print(f"\na key in the body beside senders without a key, {seconds} s each")
    print(f"  honest requests     {alone:,} alone, {together:,} beside the garbage: {share:.2f} (bound {MINIMUM_HONEST_SHARE})")
    print(f"  garbage             {dict(statuses)}")
    print(f"  longest stretch     {stretch} ms on an event loop")
    print(f"  peak memory         {memory / MIB:.0f} MiB (bound {MAXIMUM_MEMORY_BYTES // MIB} MiB)")
    return exceeded("senders without a key", {
        "the honest key keeps its throughput": share >= MINIMUM_HONEST_SHARE,
        "the garbage has no key": statuses.get(401, 0) > 0 and 200 not in statuses,
        "longest stretch": stretch is not None and stretch <= MAXIMUM_STRETCH_MILLISECONDS,
        "memory": memory <= MAXIMUM_MEMORY_BYTES,
        "the server ends in order": status == 0,
    })


HOLDERS = [f"127.0.0.{number}" for number in range(2, 10)]
HELD_PER_ADDRESS = 150


async def hold_connections(port, key, stopped):
    """Holds as many connections as one key can get, from several addresses, and sends garbage over each of them in turn.

    Returns the statuses, how many answers named the limit, and the greatest number of connections at one time.
    """
    request = post("\n".join([TEN_MISTAKES] * 10).encode(), "x-ndjson", False, key)
    statuses, refused, held, most = collections.Counter(), 0, 0, 0

    async def one_connection(address):
        nonlocal refused, held, most
        while not stopped.is_set():
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
            except OSError:
                statuses[0] += 1
                await asyncio.sleep(0.5)
                continue
            is_held = False
            with contextlib.suppress(*NO_ANSWER):
                while not stopped.is_set():
                    writer.write(request)
                    status, _, body = await asyncio.wait_for(read_answer(reader), MAXIMUM_SECONDS)
                    statuses[status] += 1
                    refused += b"too-many-connections-for-key" in body
                    if status == 503:
                        break
                    held, is_held = held + (not is_held), True
                    most = max(most, held)
                    await asyncio.sleep(1)
            held -= is_held
            writer.close()
            await asyncio.sleep(0.5)

    await asyncio.gather(*(one_connection(address) for address in HOLDERS for _ in range(HELD_PER_ADDRESS)))
    return statuses, refused, most


def run_holding_key(program, seconds):
    """Lets one key hold connections while another sends at a steady rate; returns the limits that were exceeded."""
    server = Server(program, keys={"honest": [], "holding": []})
    try:
        honest = server.keys["honest"]
        alone, _ = asyncio.run(send_steadily(server.port, honest_requests(honest), seconds))
        stopped = multiprocessing.Event()
        holding, results = start_apart(hold_connections, server.port, server.keys["holding"], stopped)
        # Its connections are there first.
        time.sleep(3)
        together, _ = asyncio.run(send_steadily(server.port, honest_requests(honest), seconds))
        stopped.set()
        statuses, refused, most = results.recv() if results.poll(MAXIMUM_SECONDS) else ({}, 0, 0)
        holding.kill()
        memory = server.peak_memory()
    finally:
        limit = int(re.search(r"connections=(\d+)", server.text()).group(1))
        _, _, _, status = server.stop()
    share = together / alone
    print(f"\nan honest key beside one that holds connections, {seconds} s each")
    print(f"  honest requests     {alone:,} alone, {together:,} beside the other key: {share:.2f} (bound {MINIMUM_HONEST_SHARE})")
    print(f"  connections held    {most:,} of {limit:,} (bound {limit // 2:,}), {refused:,} refused; {dict(statuses)}")
    print(f"  peak memory         {memory / MIB:.0f} MiB (bound {MAXIMUM_MEMORY_BYTES // MIB} MiB)")
    return exceeded("a key that holds connections", {
        "the honest key keeps its throughput": share >= MINIMUM_HONEST_SHARE,
        "the key holds half of the connections": most == limit // 2,
        "further ones are refused": refused > 0,
        "memory": memory <= MAXIMUM_MEMORY_BYTES,
        "the server ends in order": status == 0,
    })


# What a connection may send before it ends: a few thousand frames, and what is on its way by then.
MAXIMUM_FLOOD_FRAMES = 5_000_000
# Malformed requests of one connection; 200 at one time are allowed.
MALFORMED_REQUESTS = 150


def run_frames(program):
    """Sends requests over HTTP/2 that violate the protocol, and floods of frames; returns the limits that were exceeded."""
    with tempfile.TemporaryDirectory() as folder:
        files = {name: os.path.join(folder, name) for name in ("certificate", "key")}
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-subj", "/CN=localhost", "-keyout", files["key"], "-out", files["certificate"]],
                       check=True, stderr=subprocess.DEVNULL)
        server = Server(program, keys={"honest": []},
                        options=("--certificate", files["certificate"], "--private-key", files["key"]))
        try:
            key = server.keys["honest"]
            mixed, good = attack_frames.mix(server.port, key, VALID.encode(), MALFORMED_REQUESTS)
            floods = {name: attack_frames.flood(server.port, data, MAXIMUM_FLOOD_FRAMES) for name, data in attack_frames.FLOODS.items()}
            memory = server.peak_memory()
        finally:
            _, _, _, status = server.stop()
    print(f"\nframes of HTTP/2: {MALFORMED_REQUESTS} malformed requests between {len(good)} good ones, and floods")
    print(f"  good requests       {len(mixed.answered & good)} accepted; {len(mixed.reset)} others reset")
    for name, (sent, code) in floods.items():
        print(f"  {name:<19} {sent:,} sent (bound {MAXIMUM_FLOOD_FRAMES:,}), ended with error {code}")
    print(f"  peak memory         {memory / MIB:.0f} MiB (bound {MAXIMUM_MEMORY_BYTES // MIB} MiB)")
    return exceeded("frames", {
        "every good request is accepted": mixed.answered >= good and mixed.is_open,
        "floods end": all(sent < MAXIMUM_FLOOD_FRAMES for sent, _ in floods.values()),
        "floods end with ENHANCE_YOUR_CALM": all(code == attack_frames.ENHANCE_YOUR_CALM for _, code in floods.values()),
        "memory": memory <= MAXIMUM_MEMORY_BYTES,
        "the server ends in order": status == 0,
    })


async def ask_private_port(port, path, address, token=None):
    """The status of an answer; 0 if there is none within 3 s."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
        fields = f"Authorization: Bearer {token}\r\n" if token else ""
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n".encode())
        status, _, _ = await asyncio.wait_for(read_answer(reader), 3)
        writer.close()
        return status
    except NO_ANSWER:
        return 0


async def trickle(port, token, seconds):
    """Trickles bodies of login forms from two addresses, and asks from others and with the token in the meantime.

    Returns the statuses of /livez and of /metrics, and how many of the first connections are still open.
    """
    form = (b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            b"Content-Length: 4000\r\n\r\nt")
    held, livez, metrics = [], collections.Counter(), collections.Counter()
    for number in range(128):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(f"127.0.0.{2 + number % 2}", 0))
        writer.write(form)
        held.append((reader, writer))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for reader, writer in held:
            # A connection that has ended has nothing more to read.
            if not reader.at_eof() and reader.exception() is None:
                writer.write(b"a")
        livez[await ask_private_port(port, "/livez", "127.0.0.9")] += 1
        metrics[await ask_private_port(port, "/metrics", "127.0.0.2", token)] += 1
        await asyncio.sleep(0.5)
    still_open = sum(not reader.at_eof() and reader.exception() is None for reader, _ in held)
    for _, writer in held:
        writer.close()
    return livez, metrics, still_open


def run_trickle(program):
    """Takes connections of the private port without its token; returns the limits that were exceeded."""
    token = "a token for the attack"
    server = Server(program, settings={"SLUICE_ADMIN_TOKEN": token})
    try:
        port = int(re.search(r"address=127\.0\.0\.1:(\d+).*The private port listens", server.text()).group(1))
        livez, metrics, still_open = asyncio.run(trickle(port, token, 15))
    finally:
        _, _, _, status = server.stop()
    print("\n128 connections of the private port that trickle a body without the token, 15 s")
    print(f"  /livez              {dict(livez)} from another address")
    print(f"  /metrics            {dict(metrics)} with the token from the same address")
    print(f"  still open          {still_open} (bound 0)")
    return exceeded("the private port", {
        "/livez": set(livez) == {200},
        "/metrics with the token": set(metrics) == {200},
        "no connection trickles for ever": still_open == 0,
        "the server ends in order": status == 0,
    })


def exceeded(name, bounds):
    """The bounds that do not hold, with the attack's name."""
    broken = [f"{name}: {bound}" for bound, holds in bounds.items() if not holds]
    for bound in broken:
        print(f"  BROKEN              {bound}")
    return broken


def main():
    program, is_short = sys.argv[1], "--short" in sys.argv[2:]
    share = 10 if is_short else 1
    valid = [VALID] * ((4 * MIB) // (len(VALID) + 1))
    broken = []
    broken += run(program, "ten mistakes each, compressed", [TEN_MISTAKES] * 9000, 300 // share, True, {422, 503})
    broken += run(program, "an unknown name", [UNKNOWN] * 9990, 1, False, {422})
    broken += run(program, "an unplanned property", [UNPLANNED] * 9990, 1, False, {422})
    broken += run(program, "valid events, compressed", valid, 600 // share, True, {200, 503})
    broken += run_frames(program)
    broken += run_trickle(program)
    broken += run_two_keys(program, 5 if is_short else 20)
    broken += run_keyless(program, 5 if is_short else 20)
    broken += run_holding_key(program, 5 if is_short else 20)
    if broken:
        raise SystemExit("\nBroken bounds:\n" + "\n".join(broken))
    print("\nEvery bound held.")


if __name__ == "__main__":
    main()
