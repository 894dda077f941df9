"""Breaks the rules of HTTP/2 in every way that concerns one stream, one connection, or a flood of frames, and prints what happens.

    http2_errors.py streams|connection|floods PORT CERTIFICATE

Each line has the name of a case and what the server did. Beside the stream that is wrong, another request is in progress whose body
is incomplete, and a third one begins afterwards.
"""
import struct
import sys

from http2_abuse import (
    CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, PREFACE, RST_STREAM, SETTINGS, WINDOW_UPDATE,
    connect, frame, header_block)
from http2_shutdown import BODY, frames

PRIORITY, PUSH_PROMISE = 2, 5
PADDED = 8
POST = header_block(3, "/v1/events")
ERRORS = ["no", "protocol", "internal", "flow-control", "settings-timeout", "stream-closed", "frame-size", "refused",
          "cancel", "compression", "connect", "enhance-your-calm"]


def text(value):
    """A string of HPACK of fewer than 127 bytes, without Huffman coding."""
    return bytes([len(value)]) + value


def field(name, value):
    """A field of HPACK that is not indexed."""
    return b"\x00" + text(name) + text(value)


def block(*fields):
    return b"".join(field(name, value) for name, value in fields)


def number(value):
    return struct.pack(">I", value)


METHOD, SCHEME, PATH = (b":method", b"POST"), (b":scheme", b"https"), (b":path", b"/v1/events")


def request(fields, body=BODY):
    """The frames of a request whose header is `fields`."""
    return lambda stream: frame(HEADERS, END_HEADERS, stream, fields) + frame(DATA, END_STREAM, stream, body)


def with_field(name, value):
    return request(POST + field(name, value))


def after_header(*more):
    """A header, and then frames that `more` make."""
    return lambda stream: frame(HEADERS, END_HEADERS, stream, POST) + b"".join(make(stream) for make in more)


STREAM_ERRORS = {
    "upper-case name": with_field(b"X-Name", b"y"),
    "name with a space": with_field(b"x name", b"y"),
    "name with a control character": with_field(b"x\x01", b"y"),
    "CR in a value": with_field(b"x", b"a\rb"),
    "LF in a value": with_field(b"x", b"a\nb"),
    "CR LF and a field in a value": with_field(b"x", b"a\r\nauthorization: b"),
    "NUL in a value": with_field(b"x", b"a\x00b"),
    "connection": with_field(b"connection", b"close"),
    "keep-alive": with_field(b"keep-alive", b"timeout=5"),
    "proxy-connection": with_field(b"proxy-connection", b"close"),
    "transfer-encoding": with_field(b"transfer-encoding", b"chunked"),
    "upgrade": with_field(b"upgrade", b"h2c"),
    "te other than trailers": with_field(b"te", b"gzip"),
    "pseudo-header after a field": request(block(METHOD, SCHEME, (b"x", b"y"), PATH)),
    "unknown pseudo-header": request(block(METHOD, SCHEME, PATH, (b":x", b"y"))),
    "pseudo-header of an answer": request(block(METHOD, SCHEME, PATH, (b":status", b"200"))),
    "two methods": request(block(METHOD, METHOD, SCHEME, PATH)),
    "two paths": request(block(METHOD, SCHEME, PATH, PATH)),
    "no method": request(block(SCHEME, PATH)),
    "no scheme": request(block(METHOD, PATH)),
    "no path": request(block(METHOD, SCHEME)),
    "empty path": request(block(METHOD, SCHEME, (b":path", b""))),
    "line break in the path": request(block(METHOD, SCHEME, (b":path", b"/v1\r\nx: y"))),
    "extended CONNECT": request(block((b":method", b"CONNECT"), SCHEME, PATH, (b":protocol", b"x"), (b":authority", b"x"))),
    "empty header": request(b""),
    "length shorter than the body": with_field(b"content-length", b"3"),
    "length longer than the body": with_field(b"content-length", b"300"),
    "length without a body": lambda stream: frame(
        HEADERS, END_HEADERS | END_STREAM, stream, POST + field(b"content-length", b"3")),
    "length that is no number": with_field(b"content-length", b"x"),
    "negative length": with_field(b"content-length", b"-1"),
    "two lengths": request(POST + field(b"content-length", b"15") + field(b"content-length", b"16")),
    "window update of zero": after_header(lambda stream: frame(WINDOW_UPDATE, 0, stream, number(0))),
    "window beyond 2^31-1": after_header(lambda stream: frame(WINDOW_UPDATE, 0, stream, number((1 << 31) - 1))),
    "trailers without an end": after_header(lambda stream: frame(HEADERS, END_HEADERS, stream, field(b"x", b"y"))),
    "trailers with a pseudo-header": after_header(
        lambda stream: frame(HEADERS, END_HEADERS | END_STREAM, stream, field(*PATH))),
    "data after the end": lambda stream: request(POST)(stream) + frame(DATA, 0, stream, b"x"),
    "header after the end": lambda stream: request(POST)(stream) + frame(HEADERS, END_HEADERS, stream, POST),
    "length of more than 64 bits": with_field(b"content-length", b"9" * 30),
    # Requests that are well-formed for HTTP/2, and answered.
    "long header": lambda stream: frame(HEADERS, 0, stream, POST) + frame(
        CONTINUATION, 0, stream, block(*[(b"x", b"y" * 100)] * 150)) + frame(
        CONTINUATION, END_HEADERS, stream, block(*[(b"x", b"y" * 100)] * 150)) + frame(DATA, END_STREAM, stream, BODY),
    "many fields": request(POST + block(*[(b"x", b"y")] * 200)),
    "unknown path": request(block(METHOD, SCHEME, (b":path", b"/x"))),
}

CONNECTION_ERRORS = {
    "data without a stream": frame(DATA, 0, 7, b"x"),
    "data on stream 0": frame(DATA, 0, 0, b"x"),
    "header with an even number": frame(HEADERS, END_HEADERS | END_STREAM, 6, POST),
    "header within a header": frame(HEADERS, 0, 7, POST) + frame(HEADERS, END_HEADERS, 9, POST),
    "continuation without a header": frame(CONTINUATION, END_HEADERS, 7, POST),
    "field without a name": frame(HEADERS, END_HEADERS, 7, POST + field(b"", b"y")),
    "invalid header compression": frame(HEADERS, END_HEADERS | END_STREAM, 7, b"\xff\xff\xff\xff\xff\xff\xff\xff"),
    "reset without a stream": frame(RST_STREAM, 0, 7, number(8)),
    "reset of the wrong size": frame(RST_STREAM, 0, 1, b"x"),
    "priority of the wrong size": frame(PRIORITY, 0, 7, b"x"),
    "settings of the wrong size": frame(SETTINGS, 0, 0, b"x"),
    "settings on a stream": frame(SETTINGS, 0, 1, b""),
    "window beyond all": frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 0xFFFFFFFF)),
    "ping of the wrong size": frame(PING, 0, 0, b"x"),
    "push from a client": frame(PUSH_PROMISE, END_HEADERS, 1, number(2) + POST),
    "window update of zero": frame(WINDOW_UPDATE, 0, 0, number(0)),
    "window update of the wrong size": frame(WINDOW_UPDATE, 0, 0, b"x"),
    "window beyond 2^31-1": frame(WINDOW_UPDATE, 0, 0, number((1 << 31) - 1)),
    "frame larger than agreed": frame(DATA, 0, 3, bytes(1 << 15)),
    "header without an end": frame(HEADERS, 0, 7, POST) + 200 * frame(CONTINUATION, 0, 7, b""),
    "header of a megabyte": frame(HEADERS, 0, 7, POST) + 63 * frame(CONTINUATION, 0, 7, bytes(1 << 14)),
    "more streams than allowed": b"".join(frame(HEADERS, END_HEADERS, stream, POST) for stream in range(7, 407, 2)),
}

FLOODS = {
    "empty data": frame(DATA, 0, 1),
    "padded empty data": frame(DATA, PADDED, 1, b"\xff" + bytes(255)),
    "data of a byte": frame(DATA, 0, 1, b" "),
    "data of an ended stream": frame(DATA, 0, 3, b""),
    "headers of an ended stream": frame(HEADERS, END_HEADERS, 3, POST),
    "priority": frame(PRIORITY, 0, 1, number(0) + b"x"),
    "priority of an idle stream": frame(PRIORITY, 0, 1001, number(0) + b"x"),
    "reset": frame(RST_STREAM, 0, 3, number(8)),
    "settings": frame(SETTINGS, 0, 0),
    "settings that change": frame(SETTINGS, 0, 0, struct.pack(">HI", 4, 1000)),
    "acknowledged settings": frame(SETTINGS, 1, 0),
    "ping": frame(PING, 0, 0, bytes(8)),
    "acknowledged ping": frame(PING, 1, 0, bytes(8)),
    "goaway": frame(GOAWAY, 0, 0, bytes(8)),
    "window update of the connection": frame(WINDOW_UPDATE, 0, 0, number(1)),
    "window update of a stream": frame(WINDOW_UPDATE, 0, 1, number(1)),
    "window update of an ended stream": frame(WINDOW_UPDATE, 0, 3, number(1)),
    "continuation": frame(HEADERS, 0, 1001, POST) + 10 * frame(CONTINUATION, 0, 1001),
    **{f"type {kind}": frame(kind, 0, 0, b"x") for kind in [*range(10, 20), 100, 255]},
}


class Connection:
    """A connection on which stream 1 has an incomplete request, and what the server has said about each stream."""

    def __init__(self, port, certificate):
        self.socket = connect(port, certificate)
        self.frames = frames(self.socket)
        self.streams, self.goaway, self.isClosed = {}, None, False
        # The second one acknowledges the server's settings, which apply from then on.
        self.send(PREFACE + frame(SETTINGS, 0, 0) + frame(SETTINGS, 1, 0))
        self.send(frame(HEADERS, END_HEADERS, 1, POST) + frame(DATA, 0, 1, BODY[:5]))

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError:
            pass

    def ask(self, stream):
        self.send(request(POST)(stream))

    def end_first(self):
        self.send(frame(DATA, END_STREAM, 1, BODY[5:]))

    def read(self, until):
        """Reads until the condition holds or the connection ends."""
        while not self.isClosed and not until():
            try:
                kind, flags, stream, payload = next(self.frames)
            except (StopIteration, OSError):
                self.isClosed = True
                return
            if kind == RST_STREAM:
                self.streams.setdefault(stream, ERRORS[int.from_bytes(payload, "big")])
            elif kind == HEADERS:
                self.streams.setdefault(stream, "answer")
            elif kind == DATA and flags & END_STREAM and self.streams[stream] == "answer":
                self.streams[stream] = "accepted" if b'"accepted":1' in payload else "answered"
            elif kind == GOAWAY:
                self.goaway = int.from_bytes(payload[:4], "big"), ERRORS[int.from_bytes(payload[4:8], "big")]

    def finished(self, *streams):
        return all(self.streams.get(stream, "answer") != "answer" for stream in streams)


def main():
    what, arguments = sys.argv[1], (int(sys.argv[2]), sys.argv[3])
    if what == "streams":
        for name, wrong in STREAM_ERRORS.items():
            connection = Connection(*arguments)
            connection.send(wrong(3))
            connection.read(lambda: 3 in connection.streams)
            connection.ask(5)
            connection.end_first()
            connection.read(lambda: connection.finished(1, 3, 5))
            outcomes = [str(connection.streams.get(stream)) for stream in (3, 1, 5)]
            print(f"{name}:", *outcomes, "closed" if connection.isClosed else "open", flush=True)
        # More of them than streams are allowed: none of them keeps its place.
        connection = Connection(*arguments)
        for stream in range(3, 303, 2):
            connection.send(STREAM_ERRORS["upper-case name"](stream))
        connection.ask(303)
        connection.end_first()
        connection.read(lambda: connection.finished(1, 303))
        print("150 errors:", connection.streams[1], connection.streams[303], flush=True)
    elif what == "connection":
        for name, wrong in CONNECTION_ERRORS.items():
            connection = Connection(*arguments)
            # A complete request in the same packet as the error, and one that is incomplete.
            connection.send(request(POST)(3) + frame(HEADERS, END_HEADERS, 5, POST) + wrong)
            connection.read(lambda: False)
            outcomes = [str(connection.streams.get(stream)) for stream in (3, 1, 5)]
            print(f"{name}:", *connection.goaway or ["no goaway"], *outcomes, flush=True)
    elif what == "floods":
        for name, wrong in FLOODS.items():
            connection = Connection(*arguments)
            connection.ask(3)
            connection.read(lambda: connection.finished(3))
            for _ in range(100):
                connection.send(100 * wrong)
            connection.read(lambda: False)
            print(f"{name}:", connection.goaway and connection.goaway[1], connection.streams.get(1), flush=True)


main()
