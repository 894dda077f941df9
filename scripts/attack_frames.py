"""An HTTP/2 client that writes frames by hand, for `attack.py`: requests that violate the protocol, and floods of frames."""
import socket
import ssl
import struct

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 2, 3, 4, 6, 7, 8
END_STREAM, END_HEADERS = 1, 4
ENHANCE_YOUR_CALM = 11


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def field(name, value):
    """A field of HPACK that is not indexed, without Huffman coding; the value has fewer than 127 bytes."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


# POST, https, and the names of the path and the authority, by their indexes in the static table of HPACK.
POST = b"\x83\x87\x04\x0a/v1/events\x01\x09localhost"
# The names of floods, with one of their frames.
FLOODS = {
    "WINDOW_UPDATE": frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1)),
    "PRIORITY": frame(PRIORITY, 0, 1, struct.pack(">IB", 0, 1)),
    "PING": frame(PING, 0, 0, bytes(8)),
    "SETTINGS": frame(SETTINGS, 0, 0),
    "unknown frames": frame(0xFE, 0, 0, b"x"),
}


def malformed_headers():
    """Header blocks that violate the protocol, each of which is the error of a stream."""
    return [POST + field(b"X-Upper", b"y"), POST + field(b"transfer-encoding", b"chunked"), POST + field(b"x", b"a\r\nb"),
            b"\x83\x87" + field(b":path", b""), POST + field(b"content-length", b"3"), b"\x83\x87"]


class Connection:
    """A connection over TLS that has agreed on HTTP/2, and what the server has said about each stream."""

    def __init__(self, port, seconds):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        self.socket = context.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname="localhost")
        self.socket.settimeout(seconds)
        self.answered, self.reset, self.goaway, self.is_open = set(), set(), None, True
        self.received = b""
        self.socket.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0))

    def send(self, data):
        try:
            self.socket.sendall(data)
        except OSError:
            self.is_open = False

    def request(self, stream, header, body):
        self.send(frame(HEADERS, END_HEADERS, stream, header) + frame(DATA, END_STREAM, stream, body))

    def read(self, until=lambda: False):
        """Reads until the condition holds, the connection ends, or nothing arrives in time."""
        while not until():
            try:
                piece = self.socket.recv(1 << 16)
            except OSError:
                piece = b""
            if not piece:
                self.is_open = False
                return
            self.parse(piece)

    def poll(self):
        """Reads what has arrived."""
        self.socket.setblocking(False)
        try:
            self.parse(self.socket.recv(1 << 16))
        except ssl.SSLWantReadError:
            pass
        except OSError:
            self.is_open = False
        self.socket.setblocking(True)

    def parse(self, piece):
        self.received += piece
        while len(self.received) >= 9 and len(self.received) >= (end := 9 + int.from_bytes(self.received[:3], "big")):
            self.note(self.received[3], int.from_bytes(self.received[5:9], "big"), self.received[9:end])
            self.received = self.received[end:]

    def note(self, kind, stream, payload):
        if kind == DATA and b'"accepted":1' in payload:
            self.answered.add(stream)
        elif kind == RST_STREAM:
            self.reset.add(stream)
        elif kind == GOAWAY:
            self.goaway = int.from_bytes(payload[4:8], "big")


def mix(port, key, body, count):
    """Sends malformed requests between good ones of the same connection; returns the connection and the streams of the good ones."""
    connection = Connection(port, 30)
    malformed, good = malformed_headers(), set()
    for number in range(count):
        stream = 4 * number + 1
        good.add(stream)
        header = POST + field(b"authorization", b"Bearer " + key.encode())
        connection.send(frame(HEADERS, END_HEADERS, stream, header) + frame(DATA, 0, stream, body[:5]))
        connection.request(stream + 2, malformed[number % len(malformed)], body)
        connection.send(frame(DATA, END_STREAM, stream, body[5:]))
        # Like a proxy, it begins no more requests than the server allows at one time.
        connection.read(lambda: len(good - connection.answered) < 40)
    connection.read(lambda: connection.answered >= good)
    return connection, good


def flood(port, data, count):
    """Sends up to `count` frames until the server says that it ends the connection; returns how many it was, and the error."""
    connection = Connection(port, 30)
    sent = 0
    while sent < count and connection.goaway is None and connection.is_open:
        connection.send(data * 1000)
        sent += 1000
        connection.poll()
    connection.read(lambda: connection.goaway is not None)
    return sent, connection.goaway
