"""The honest senders and the attackers of `scripts/soak.py`; each is a loop that ends with the soak, at a bounded rate."""
import asyncio
import base64
import collections
import contextlib
import gzip
import json
import os
import random
import re
import socket
import ssl
import struct
import sys
import time

from attack import KIB, MIB, PLAN_EVENT

PAYLOAD = {"invoiceNo": "536365", "stockCode": "85123A", "quantity": 6, "unitPrice": 2.55, "country": "United Kingdom"}
# How long an answer may take, in seconds; the server's own limit for a full queue is 60 s.
ANSWER_SECONDS = 90
ABUSE = "Tests/Support/Clients/http2_abuse.py"
# What happens to a sender that breaks the rules of HTTP/2, as in HTTP2AbuseTests.
ABUSES = {"rapid-reset": "closed", "endless-header": "closed", "pings": "closed", "closed-window": "reset",
          "data-without-stream": "closed", "upper-case-name": "reset", "wrong-length": "reset", "no-preface": "closed"}
# What ends a connection without an answer.
ENDED = (OSError, EOFError, asyncio.IncompleteReadError, asyncio.TimeoutError, ssl.SSLError)


class Target:
    """The server under attack, and what became of the requests so far."""

    def __init__(self, port, certificate, keys, seconds):
        self.port, self.certificate, self.keys = port, certificate, keys
        self.deadline = time.monotonic() + seconds
        self.tls = ssl.create_default_context(cafile=certificate)
        # The number of events that answers called accepted, the outcomes by sender, and what was wrong.
        self.accepted, self.outcomes, self.wrong = 0, collections.defaultdict(collections.Counter), collections.Counter()

    def note(self, sender, outcome, allowed):
        self.outcomes[sender][outcome] += 1
        if outcome not in allowed:
            self.wrong[f"{sender}: {outcome}"] += 1

    async def pause(self, seconds):
        """Waits, but not beyond the end; returns whether the sender goes on."""
        await asyncio.sleep(max(0, min(seconds, self.deadline - time.monotonic())))
        return time.monotonic() < self.deadline


class Connection:
    """One connection over TLS, with HTTP/1.1."""

    @classmethod
    async def open(cls, target):
        self = cls()
        opening = asyncio.open_connection("127.0.0.1", target.port, ssl=target.tls)
        self.reader, self.writer = await asyncio.wait_for(opening, ANSWER_SECONDS)
        return self

    async def ask(self, request):
        """Sends a request; returns the status, the body, and whether the connection can be used again."""
        self.writer.write(request)
        await self.writer.drain()
        return await asyncio.wait_for(self.answer(), ANSWER_SECONDS)

    async def answer(self):
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head)
        body = await self.reader.readexactly(int(length.group(1))) if length else b""
        return int(head[9:12]), body, b"connection: close" not in head

    def close(self):
        self.writer.transport.abort()


def post(path, content_type, body, key=None, fields=""):
    authorization = f"Authorization: Bearer {key}\r\n" if key else ""
    head = (f"POST {path} HTTP/1.1\r\nHost: sluice\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n"
            f"{authorization}{fields}\r\n")
    return head.encode() + body


def text(value):
    return json.dumps(value, separators=(",", ":")).encode()


# MARK: Honest requests

EVENT = {"name": PLAN_EVENT, "payload": PAYLOAD}
MISTAKE = {"name": PLAN_EVENT, "payload": {"no": 1}}


def single(key, number):
    return post("/v1/events", "application/json", text(EVENT | {"userId": f"user-{number % 100}"}), key)


def array(key, number):
    return post("/v1/events", "application/json", text([EVENT] * 19 + [MISTAKE]), key)


def lines(key, number):
    body = gzip.compress(b"\n".join([text(EVENT)] * 100), 1)
    return post("/v1/events", "application/x-ndjson", body, key, "Content-Encoding: gzip\r\n")


def messages():
    return [{"type": "track", "event": PLAN_EVENT, "anonymousId": "a", "properties": PAYLOAD}] * 10


def segment(key, number):
    password = base64.b64encode(f"{key}:".encode()).decode()
    return post("/v1/batch", "application/json", text({"batch": messages()}), None, f"Authorization: Basic {password}\r\n")


def rudderstack(key, number):
    body = gzip.compress(text({"batch": messages(), "writeKey": key}), 1)
    return post("/v1/batch", "application/json", body, None, "Content-Encoding: gzip\r\n")


def posthog(key, number):
    event = {"event": PLAN_EVENT, "distinct_id": "d", "properties": PAYLOAD}
    return post("/batch/", "application/json", text({"api_key": key, "batch": [event] * 10}))


def cloud_events(key, number):
    # Ids are those of the sender, so each is new.
    events = [{"specversion": "1.0", "type": PLAN_EVENT, "source": "/soak", "id": f"{number}-{index}", "data": PAYLOAD}
              for index in range(10)]
    return post("/v1/events", "application/cloudevents-batch+json", text(events), key)


def ten(key, number):
    return post("/v1/events", "application/json", text([EVENT] * 10), key)


# Each honest sender: its requests, its key, how many a second, whether each has a connection of its own, and how many events of
# a request are accepted.
HONEST = [
    (single, "shop", 20, False, 1),
    (single, "app", 4, True, 1),
    (array, "shop", 4, False, 19),
    (lines, "shop", 1, True, 100),
    (segment, "app", 3, False, 10),
    (rudderstack, "app", 2, True, 10),
    (posthog, "app", 3, False, 10),
    (cloud_events, "shop", 3, False, 10),
    # This key may send 20 events a second, so most of its requests get 429.
    (ten, "slow", 5, False, 10),
]


async def send_honestly(target, make, key_name, rate, is_new_each_time, events):
    """Sends requests of one kind at a steady rate, and checks each answer."""
    name = f"{make.__name__} ({key_name}, {'new connections' if is_new_each_time else 'one connection'})"
    allowed = {200, 429} if key_name == "slow" else {200}
    connection, number, start = None, 0, time.monotonic()
    while await target.pause(start + number / rate - time.monotonic()):
        number += 1
        try:
            connection = connection or await Connection.open(target)
            status, body, keeps_alive = await connection.ask(make(target.keys[key_name], number))
            accepted = json.loads(body)["accepted"] if status == 200 else 0
            target.accepted += accepted
            outcome = status if status != 200 or accepted == events else f"200 with {accepted} of {events} events"
        except ENDED as error:
            outcome, keeps_alive = type(error).__name__, False
        target.note(name, outcome, allowed)
        if connection and (is_new_each_time or not keeps_alive):
            connection.close()
            connection = None
    if connection:
        connection.close()


async def send_http2(target, folder, rate):
    """Sends bursts of 100 requests with h2load, over two connections."""
    path = os.path.join(folder, "event.json")
    with open(path, "wb") as file:
        file.write(text(EVENT))
    while await target.pause(100 / rate):
        process = await asyncio.create_subprocess_exec(
            "h2load", "-n", "100", "-c", "2", "-m", "10", "-d", path, "-H", "content-type: application/json",
            "-H", f"authorization: Bearer {target.keys['shop']}", f"https://127.0.0.1:{target.port}/v1/events",
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT)
        output = (await asyncio.wait_for(process.communicate(), ANSWER_SECONDS))[0].decode()
        match = re.search(r"status codes: (\d+) 2xx", output)
        succeeded = int(match.group(1)) if match else 0
        target.accepted += succeeded
        target.outcomes["single (shop, HTTP/2)"][200] += succeeded
        if succeeded != 100:
            target.note("single (shop, HTTP/2)", f"{succeeded} of 100 answered with 2xx", set())


# MARK: Attacks

def deep_json(key):
    return post("/v1/events", "application/json", b'{"name":"x","payload":' + b"[" * 50_000, key)


def invalid_events(key):
    return post("/v1/events", "application/x-ndjson", b"\n".join([text(MISTAKE)] * 1000), key)


def compressed(body):
    return lambda key: post("/v1/events", "application/x-ndjson", body, key, "Content-Encoding: gzip\r\n")


BOMB = gzip.compress(bytes(64 * MIB))
WHOLE = gzip.compress(b"\n".join([text(EVENT)] * 100))

# What an attacker with a key sends, how often a second, and the statuses that are right.
REQUESTS = {
    "gzip bomb": (compressed(BOMB), 0.5, {413, 429}),
    "truncated gzip": (compressed(WHOLE[:-100]), 1, {400, 429}),
    "gzip with a wrong checksum": (compressed(WHOLE[:-8] + b"\0\0\0\0" + WHOLE[-4:]), 1, {400, 429}),
    "deep JSON": (deep_json, 1, {400, 422, 429}),
    "1,000 invalid events": (invalid_events, 1, {422, 429}),
    "no key": (lambda key: post("/v1/events", "application/json", text(EVENT)), 5, {401}),
    "unknown key": (lambda key: post("/batch/", "application/json", text({"api_key": "x" * 40, "batch": []})), 5, {401}),
    "smuggling": (lambda key: post("/v1/events", "application/json", b"{}", key, "Transfer-Encoding: chunked\r\n"), 2, {400}),
    "long header": (lambda key: post("/v1/events", "application/json", b"{}", key, f"X: {'x' * 20 * KIB}\r\n"), 2, {431}),
}


async def attack_with_requests(target, name, make, rate, allowed):
    request = make(target.keys["attacker"])
    while await target.pause(1 / rate):
        connection = None
        try:
            connection = await Connection.open(target)
            outcome = (await connection.ask(request))[0]
        except ENDED as error:
            outcome = type(error).__name__
        target.note(name, outcome, allowed)
        if connection:
            connection.close()


async def trickle(target, name, beginning, pause):
    """Sends a request byte by byte until the server ends it."""
    while await target.pause(1):
        connection, outcome = None, "not ended by the server"
        try:
            connection = await Connection.open(target)
            connection.writer.write(beginning)
            answer = asyncio.ensure_future(connection.answer())
            while await target.pause(pause) and not answer.done():
                connection.writer.write(b"x")
            if answer.done():
                outcome = answer.result()[0]
            else:
                answer.cancel()
                outcome = "the soak ended"
        except ENDED as error:
            outcome = type(error).__name__
        target.note(name, outcome, {408, "the soak ended"})
        if connection:
            connection.close()


def plain_socket(target):
    connection = socket.create_connection(("127.0.0.1", target.port))
    # Closing it resets the connection.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.setblocking(False)
    return connection


async def send_garbage(target):
    """Sends random bytes instead of a TLS handshake, or over TLS instead of a request."""
    generator = random.Random(1)
    while await target.pause(0.2):
        garbage = generator.randbytes(generator.randrange(1, 4 * KIB))
        with contextlib.suppress(*ENDED):
            if generator.random() < 0.5:
                connection = plain_socket(target)
                connection.send(garbage)
                await target.pause(0.05)
            else:
                connection = await Connection.open(target)
                connection.writer.write(garbage)
                await asyncio.wait_for(connection.reader.read(), 15)
            connection.close()
        target.outcomes["garbage"]["sent"] += 1


async def leave_half_open(target):
    """Opens 20 connections, half of them with the beginning of a TLS handshake, and leaves them until the server ends them."""
    while await target.pause(1):
        connections = []
        with contextlib.suppress(*ENDED):
            for number in range(20):
                connections.append(plain_socket(target))
                if number % 2:
                    connections[-1].send(b"\x16\x03\x01\x02\x00\x01\x00")
        await target.pause(15)
        for connection in connections:
            connection.close()
        target.outcomes["half-open connection"]["opened"] += len(connections)


async def cut_bodies(target):
    """Resets the connection in the middle of a body."""
    request = post("/v1/events", "application/json", text([EVENT] * 1000), target.keys["attacker"])
    while await target.pause(0.2):
        with contextlib.suppress(*ENDED):
            connection = await Connection.open(target)
            connection.writer.write(request[:len(request) // 2])
            await target.pause(0.05)
            connection.close()
        target.outcomes["cut body"]["sent"] += 1


async def read_nothing(target):
    """Sends requests with long answers, and does not read them."""
    request = invalid_events(target.keys["attacker"])
    while await target.pause(5):
        with contextlib.suppress(*ENDED):
            connection = await Connection.open(target)
            connection.reader._transport.pause_reading()
            connection.writer.write(request * 20)
            await target.pause(40)
            connection.close()
        target.outcomes["unread answers"]["connections"] += 1


async def abuse_http2(target):
    for number in range(1_000_000):
        if not await target.pause(2):
            return
        scenario = list(ABUSES)[number % len(ABUSES)]
        process = await asyncio.create_subprocess_exec(
            sys.executable, ABUSE, scenario, str(target.port), target.certificate, stdout=asyncio.subprocess.PIPE)
        output = (await asyncio.wait_for(process.communicate(), ANSWER_SECONDS))[0].decode().strip()
        target.note(f"HTTP/2 {scenario}", output, {ABUSES[scenario]})


def all_senders(target, folder):
    """Every sender, as coroutines that end with the soak."""
    head = b"POST /v1/events HTTP/1.1\r\nHost: sluice\r\nX: "
    body = post("/v1/events", "application/json", b"", target.keys["attacker"]).replace(b"Length: 0", b"Length: 1000")
    return [
        *(send_honestly(target, *sender) for sender in HONEST),
        send_http2(target, folder, 20),
        *(attack_with_requests(target, name, *attack) for name, attack in REQUESTS.items()),
        *(trickle(target, "slow header", head, 1) for _ in range(8)),
        *(trickle(target, "slow body", body, 1) for _ in range(8)),
        send_garbage(target), leave_half_open(target), cut_bodies(target), read_nothing(target), abuse_http2(target),
    ]
