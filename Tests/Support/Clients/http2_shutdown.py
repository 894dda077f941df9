"""A client whose request over HTTP/2 meets the server's shutdown: it is sent before the client has seen the GOAWAY.

    http2_shutdown.py PORT CERTIFICATE [PATH]

Prints `ready` once its first request to the path (default: /v1/events) was answered, then each frame of the server that matters, and at the end `closed`.
"""
import sys

from http2_abuse import (
    DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, PREFACE, RST_STREAM, SETTINGS, connect, frame, header_block)

ACK = 1
BODY = b'{"name":"Ping"}'


def request(stream):
    path = sys.argv[3] if len(sys.argv) > 3 else "/v1/events"
    return frame(HEADERS, END_HEADERS, stream, header_block(3, path)) + frame(DATA, END_STREAM, stream, BODY)


def frames(connection):
    """The frames of the server: their types, flags, streams and payloads."""
    received = b""
    while piece := connection.recv(1 << 16):
        received += piece
        while len(received) >= 9 and len(received) >= (end := 9 + int.from_bytes(received[:3], "big")):
            yield received[3], received[4], int.from_bytes(received[5:9], "big"), received[9:end]
            received = received[end:]


def main():
    connection = connect(int(sys.argv[1]), sys.argv[2])
    connection.sendall(PREFACE + frame(SETTINGS, 0, 0) + request(1))
    for kind, flags, stream, payload in frames(connection):
        if kind == DATA and stream == 1 and flags & END_STREAM:
            print("ready", flush=True)
        elif kind == GOAWAY:
            print("goaway", int.from_bytes(payload[:4], "big"), int.from_bytes(payload[4:], "big"))
        elif kind == PING and not flags & ACK:
            # The request was on its way before the acknowledgement, as far as the server can tell.
            connection.sendall(request(3))
            ping = payload
        elif kind == DATA and stream == 3 and flags & END_STREAM:
            print("answer", payload.decode())
            connection.sendall(frame(PING, ACK, 0, ping))
        elif kind == RST_STREAM:
            print("reset", stream)
    print("closed")


if __name__ == "__main__":
    main()
