"""Breaks the rules of HTTP/2 in one way, and prints what the server does: closes the connection, or resets the stream.

    http2_abuse.py SCENARIO PORT CERTIFICATE

The frames are written by hand (RFC 9113), because no library sends them.
"""
import socket
import ssl
import struct
import sys

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM, END_HEADERS = 1, 4
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def header_block(method, path):
    """`method` is its index in the static table of HPACK: 2 for GET, 3 for POST."""
    path = path.encode()
    return bytes([0x80 | method, 0x87, 0x04, len(path)]) + path + b"\x01\x01x"


def attack(scenario):
    """The frames of a scenario, one after another."""
    post = header_block(3, "/v1/events")
    if scenario == "rapid-reset":
        for number in range(5000):
            stream = 2 * number + 1
            yield frame(HEADERS, END_HEADERS, stream, post) + frame(RST_STREAM, 0, stream, struct.pack(">I", 8))
    elif scenario == "endless-header":
        yield frame(HEADERS, 0, 1, post)
        for _ in range(5000):
            yield frame(CONTINUATION, 0, 1)
    elif scenario == "pings":
        for _ in range(5000):
            yield frame(PING, 0, 0, bytes(8))
    elif scenario == "many-streams":
        for number in range(200):
            yield frame(HEADERS, END_HEADERS, 2 * number + 1, post)
    elif scenario == "closed-window":
        yield frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0))
        yield frame(HEADERS, END_HEADERS | END_STREAM, 1, header_block(2, "/livez"))
    elif scenario == "data-without-stream":
        yield frame(DATA, 0, 7, b"x")
    elif scenario == "upper-case-name":
        yield frame(HEADERS, END_HEADERS, 1, post + b"\x00\x01X\x01y")
    elif scenario == "transfer-encoding":
        name, value = b"transfer-encoding", b"chunked"
        yield frame(HEADERS, END_HEADERS, 1, post + b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value)
    elif scenario == "wrong-length":
        yield frame(HEADERS, END_HEADERS, 1, post + b"\x0f\x0d\x013") + frame(DATA, END_STREAM, 1, b"too long")
    elif scenario == "silent":
        pass
    elif scenario == "half-header":
        yield frame(HEADERS, 0, 1, post)
    elif scenario == "unread":
        yield frame(SETTINGS, 0, 0, struct.pack(">HI", 4, (1 << 31) - 1)) + frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1 << 30))
        for number in range(100000):
            yield frame(HEADERS, END_HEADERS | END_STREAM, 2 * number + 1, header_block(2, "/livez"))
    elif scenario == "no-preface":
        yield b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    else:
        raise SystemExit(f"unknown scenario {scenario}")


def read_frames(connection):
    """The kind, the stream and the payload of each frame that arrives."""
    received = b""
    while True:
        while len(received) >= 9 and len(received) >= 9 + int.from_bytes(received[:3], "big"):
            end = 9 + int.from_bytes(received[:3], "big")
            yield received[3], int.from_bytes(received[5:9], "big"), received[9:end]
            received = received[end:]
        piece = connection.recv(1 << 16)
        if not piece:
            return
        received += piece


def outcome(connection, frames, resets_streams):
    try:
        for bytes_ in frames:
            connection.sendall(bytes_)
        for kind, _, _ in read_frames(connection):
            if kind == RST_STREAM and not resets_streams:
                return "reset"
        return "closed"
    except (ssl.SSLError, ConnectionError):
        return "closed"


def request_before_flood(connection):
    """Sends a whole request and the frames that exceed the allowance in one piece; the request is answered all the same."""
    ping = frame(PING, 0, 0, bytes(8))
    frames = read_frames(connection)
    connection.sendall(ping * 2900)
    answered = 0
    while answered < 2900:
        answered += next(frames)[0] == PING
    body = b'{"name":"Ping","payload":{}}'
    post = header_block(3, "/v1/events") + b"\x0f\x10\x10application/json"
    request = frame(HEADERS, END_HEADERS, 1, post) + frame(DATA, END_STREAM, 1, body)
    connection.sendall(request + ping * 600)
    kinds = []
    try:
        for kind, stream, payload in frames:
            if kind == GOAWAY:
                kinds.append(f"last stream {int.from_bytes(payload[:4], 'big')}")
            elif stream == 1 and kind in (HEADERS, RST_STREAM):
                kinds.append("answer" if kind == HEADERS else "reset")
    except (ssl.SSLError, ConnectionError):
        pass
    return ", ".join(sorted(kinds))


def connect(port, certificate):
    """A connection over TLS that has agreed on HTTP/2, without the preface."""
    context = ssl.create_default_context(cafile=certificate)
    context.set_alpn_protocols(["h2"])
    connection = context.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname="127.0.0.1")
    connection.settimeout(60)
    return connection


def main():
    scenario, port, certificate = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    connection = connect(port, certificate)
    if scenario != "no-preface":
        connection.sendall(PREFACE + frame(SETTINGS, 0, 0))
    if scenario == "unread":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        print("sending", flush=True)
        try:
            for bytes_ in attack(scenario):
                connection.sendall(bytes_)
        except OSError:
            pass
        print("sent", flush=True)
        # Keeps the connection, and reads nothing.
        sys.stdin.read()
    if scenario == "request-before-flood":
        print(request_before_flood(connection))
        return
    # The last stream that the scenario resets itself may be reset by the server first.
    print(outcome(connection, attack(scenario), resets_streams=scenario == "rapid-reset"))


if __name__ == "__main__":
    main()
