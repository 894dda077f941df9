"""A Kafka broker that asks for a password, which can be replaced while it runs: librdkafka's mock brokers ask for none.

Usage: kafka_sasl.py TOPIC REPLICAS FILE

It prints its address, and then a line for each login: `accepted PASSWORD` or `refused PASSWORD`. The file has the password that is
valid now; a connection that was made with another one is closed. Otherwise it is the broker of kafka_settings.py.
"""

import struct
import sys

from kafka_settings import VERSIONS, Broker, Server, array, text

SASL_HANDSHAKE, SASL_AUTHENTICATE = 17, 36
SASL_AUTHENTICATION_FAILED = 58
VERSIONS.update({SASL_HANDSHAKE: 1, SASL_AUTHENTICATE: 0})


def valid_password():
    with open(sys.argv[3]) as file:
        return file.read().strip()


class GuardedBroker(Broker):
    password = None

    def handle(self):
        try:
            super().handle()
        except (ConnectionError, ValueError, struct.error):
            pass

    def answer(self, key, version, request):
        if key == SASL_HANDSHAKE:
            return struct.pack(">h", 0) + array([text("PLAIN")])
        if key == SASL_AUTHENTICATE:
            size = request.take("i")
            password = request.data[request.at : request.at + size].decode().split("\0")[2]
            accepted = password == valid_password()
            print("accepted" if accepted else "refused", password, flush=True)
            if not accepted:
                return struct.pack(">h", SASL_AUTHENTICATION_FAILED) + text("wrong password") + struct.pack(">i", 0)
            self.password = password
            return struct.pack(">h", 0) + text(None) + struct.pack(">i", 0)
        if self.password is not None and self.password != valid_password():
            raise ValueError("the password was replaced")
        return super().answer(key, version, request)


with Server(("127.0.0.1", 0), GuardedBroker) as server:
    print("%s:%d" % server.server_address, flush=True)
    server.serve_forever()
