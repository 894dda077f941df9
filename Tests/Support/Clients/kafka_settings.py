"""A Kafka broker that only describes its topics: librdkafka's mock brokers do not know the settings of topics.

Usage: kafka_settings.py TOPIC REPLICAS [NAME=VALUE…]

It prints its address. The topic has one partition with so many replicas, and these settings. With `denied` instead of settings, the
user may not read them. The broker takes no messages.
"""

import socketserver
import struct
import sys

TOPIC = sys.argv[1]
REPLICAS = list(range(1, int(sys.argv[2]) + 1))
DENIED = sys.argv[3:] == ["denied"]
SETTINGS = [] if DENIED else [setting.split("=", 1) for setting in sys.argv[3:]]

# The numbers of the requests in Kafka's protocol, with the latest version that is answered.
METADATA, API_VERSIONS, INIT_PRODUCER_ID, DESCRIBE_CONFIGS = 3, 18, 22, 32
VERSIONS = {0: 7, 1: 11, METADATA: 1, API_VERSIONS: 3, INIT_PRODUCER_ID: 0, DESCRIBE_CONFIGS: 1}
TOPIC_AUTHORIZATION_FAILED = 29


def text(value):
    if value is None:
        return struct.pack(">h", -1)
    return struct.pack(">h", len(value)) + value.encode()


def array(items):
    return struct.pack(">i", len(items)) + b"".join(items)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        (value,) = struct.unpack_from(">" + form, self.data, self.at)
        self.at += struct.calcsize(">" + form)
        return value

    def text(self):
        length = self.take("h")
        if length < 0:
            return None
        self.at += length
        return self.data[self.at - length : self.at].decode()

    def array(self, item):
        return [item() for _ in range(max(0, self.take("i")))]


class Broker(socketserver.BaseRequestHandler):
    def handle(self):
        while size := self.receive(4):
            request = Reader(self.receive(struct.unpack(">i", size)[0]))
            key, version, correlation = request.take("h"), request.take("h"), request.take("i")
            request.text()
            body = self.answer(key, version, request)
            self.request.sendall(struct.pack(">ii", len(body) + 4, correlation) + body)

    def receive(self, count):
        data = b""
        while len(data) < count:
            part = self.request.recv(count - len(data))
            if not part:
                return b""
            data += part
        return data

    def answer(self, key, version, request):
        if key == API_VERSIONS:
            versions = [struct.pack(">hhh", number, 0, latest) for number, latest in VERSIONS.items()]
            if version < 3:
                return struct.pack(">h", 0) + array(versions) + (struct.pack(">i", 0) if version else b"")
            # The flexible form: compact arrays, and an empty list of tagged fields behind each structure.
            entries = b"".join(entry + b"\0" for entry in versions)
            return struct.pack(">hB", 0, len(versions) + 1) + entries + struct.pack(">iB", 0, 0)
        if key == METADATA:
            topics = request.array(request.text) or [TOPIC]
            host, port = self.server.server_address
            broker = struct.pack(">i", 1) + text(host) + struct.pack(">i", port) + text(None)
            return array([broker]) + struct.pack(">i", 1) + array([self.topic(name) for name in topics])
        if key == DESCRIBE_CONFIGS:
            resources = request.array(lambda: (request.take("b"), request.text(), request.array(request.text)))
            return struct.pack(">i", 0) + array([self.settings(kind, name) for kind, name, _ in resources])
        if key == INIT_PRODUCER_ID:
            return struct.pack(">ihqh", 0, 0, 1, 0)
        raise ValueError(f"request {key}")

    def topic(self, name):
        replicas = array([struct.pack(">i", replica) for replica in REPLICAS])
        partition = struct.pack(">hii", 0, 0, 1) + replicas + replicas
        return struct.pack(">h", 0) + text(name) + struct.pack(">?", False) + array([partition])

    def settings(self, kind, name):
        error = TOPIC_AUTHORIZATION_FAILED if DENIED else 0
        entries = [
            text(setting) + text(value) + struct.pack(">?b?", False, 1, False) + array([]) for setting, value in SETTINGS
        ]
        return struct.pack(">h", error) + text(None) + struct.pack(">b", kind) + text(name) + array(entries)


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


if __name__ == "__main__":
    with Server(("127.0.0.1", 0), Broker) as server:
        print("%s:%d" % server.server_address, flush=True)
        server.serve_forever()
