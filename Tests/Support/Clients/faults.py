"""A proxy that answers some requests itself, or loses the server's answer.

Usage: faults.py URL FAULT…

It prints its own URL, then a line for each request, and treats the first request with the first fault, and so on; requests beyond the last fault are only
forwarded. The faults are `ok`, a status (400, 429, 503), `cut` (the connection is reset before the server has the request),
`lost` (it is reset after the server has answered), `portal` (200 with a page, like the login page of a network), `redirect` (307
to the same place) and `endless` (200 with a body of 256 MiB).
"""

import http.client
import http.server
import itertools
import socket
import struct
import sys
import threading
import urllib.parse

server = urllib.parse.urlsplit(sys.argv[1])
faults = itertools.chain(sys.argv[2:], itertools.repeat("ok"))
lock = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with lock:
            fault = next(faults)
            print(fault, flush=True)
        if fault == "cut":
            return self.reset()
        if fault == "portal":
            self.send_response(200)
            return self.finish_with("text/html", b"<!doctype html><title>Log in</title>")
        if fault == "redirect":
            self.send_response(307)
            self.send_header("Location", self.path)
            return self.finish_with("text/plain", b"")
        if fault == "endless":
            return self.send_endless()
        if fault.isdigit():
            text = b'{"success":false,"code":"queue-full","message":"Nothing was accepted."}'
            self.send_response(int(fault))
            self.send_header("Retry-After", "1")
            return self.finish_with("application/json", text)
        connection = http.client.HTTPConnection(server.hostname, server.port)
        connection.request("POST", self.path, body, dict(self.headers))
        response = connection.getresponse()
        text = response.read()
        connection.close()
        if fault == "lost":
            return self.reset()
        self.send_response(response.status)
        for name in ("Retry-After",):
            if response.headers[name]:
                self.send_header(name, response.headers[name])
        self.finish_with(response.headers["Content-Type"], text)

    def finish_with(self, content_type, text):
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def send_endless(self):
        self.close_connection = True
        self.send_response(200)
        self.end_headers()
        sent = 0
        try:
            while sent < 1 << 28:
                sent += self.connection.send(b" " * 65536)
        except OSError:
            pass

    def reset(self):
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def finish(self):
        try:
            super().finish()
        except (OSError, ValueError):
            pass

    def log_message(self, *arguments):
        pass


proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{proxy.server_port}", flush=True)
proxy.serve_forever()
