"""Sends events to a port that is not open yet, again and again, until standard input ends.

    knocking.py [CERTIFICATE]

Chooses a free port of 127.0.0.1 and prints it; at the end prints how many requests were answered. With a certificate it speaks TLS.
"""
import socket
import ssl
import sys
import threading

EVENT = b'{"name":"Store Opened","payload":{}}'
REQUEST = b"POST /v1/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (
    len(EVENT), EVENT)


def answered(port, context):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
            if context:
                connection = context.wrap_socket(connection, server_hostname="127.0.0.1")
            connection.sendall(REQUEST)
            return bool(connection.recv(1))
    except OSError:
        return False


def main():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    context = ssl.create_default_context(cafile=sys.argv[1]) if len(sys.argv) > 1 else None
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    print("port", port, flush=True)
    answers = 0
    while not ended.is_set():
        answers += answered(port, context)
    print("answers", answers, flush=True)


main()
