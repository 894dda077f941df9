"""Takes connections of a private port without its token, and asks beside them.

    private_port_trickle.py PORT TOKEN

Prints what each question gets: the status, or the name of the error.
"""
import socket
import sys

port, token = int(sys.argv[1]), sys.argv[2]
LOGIN = b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 4000\r\n\r\nt"


def connect(source):
    return socket.create_connection(("127.0.0.1", port), timeout=30, source_address=(source, 0))


def ask(connection, path, *fields):
    try:
        connection.sendall("\r\n".join([f"GET {path} HTTP/1.1", "Host: localhost", *fields, "", ""]).encode())
        return connection.recv(65536)[9:12].decode() or "closed"
    except OSError as error:
        return type(error).__name__


bearer = f"Authorization: Bearer {token}"
operator = connect("127.0.0.1")
print("operator before:", ask(operator, "/livez", bearer))
held = []
# Bodies that do not end, and heads that do not end, from two addresses: far more than there are places.
for number in range(200):
    connection = connect(f"127.0.0.{1 + number % 2}")
    connection.sendall(LOGIN if number % 4 < 2 else LOGIN[:20])
    held.append(connection)
print("another address:", ask(connect("127.0.0.9"), "/livez"))
print("the same address:", ask(connect("127.0.0.1"), "/livez"))
print("the same address with the token:", ask(connect("127.0.0.1"), "/v1/status", bearer))
print("operator:", ask(operator, "/v1/status", bearer))
