"""A server that gets webhooks, and does with them what the file `mode` says.

    receiver.py FOLDER PORT [CERTIFICATE KEY [CLIENT_CA]]

It prints its port, and ends when its standard input does. Each request that it takes is a line of JSON in `requests`. Modes:

    ok [STATUS]            takes the request; 200
    status STATUS [FIELD]  does not take it; FIELD is a field of the answer's header, such as `Retry-After: 5`
    refuse STATUS TEXT     answers so if the body contains the text, and takes other requests
    limit BYTES            answers 413 if the body is longer, and takes other requests
    together COUNT         takes no request before so many have come; 200
    once STATUS            takes the request, answers with the status, and goes back to `ok`
    hang, close            takes no request: does not answer, or closes the connection
    drip, stall            takes no request: answers 200 with a body without an end, or with one that does not come
"""
import gzip
import http.server
import json
import os
import ssl
import sys
import threading

folder = sys.argv[1]
lock = threading.Lock()
together = threading.Condition()
waiting = 0


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def mode(self):
        with open(os.path.join(folder, "mode")) as file:
            return file.read().strip().split(" ", 2) + ["", ""]

    def take(self, body):
        record = {
            "method": self.command,
            "path": self.path,
            "headers": {name.lower(): value for name, value in self.headers.items()},
            "body": body.decode(),
        }
        with lock, open(os.path.join(folder, "requests"), "a") as file:
            file.write(json.dumps(record) + "\n")

    def answer(self, status, text="", field=""):
        self.send_response(status)
        if field:
            self.send_header(*field.split(": ", 1))
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text.encode())

    def wait_for_others(self, count):
        global waiting
        with together:
            waiting += 1
            together.notify_all()
            together.wait_for(lambda: waiting >= count)

    def do_HEAD(self):
        self.answer(405)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        name, first, second, *_ = self.mode()
        if name == "status":
            self.answer(int(first), "not now", second)
        elif name == "refuse" and second.encode() in body:
            self.answer(int(first), "the event has " + second)
        elif name == "limit" and len(body) > int(first):
            self.answer(413, "too large")
        elif name == "hang":
            # Until the client ends the connection.
            self.connection.recv(1)
            self.close_connection = True
        elif name == "together":
            self.wait_for_others(int(first))
            self.take(body)
            self.answer(200)
        elif name == "close":
            self.close_connection = True
        elif name == "stall":
            self.send_response(200)
            self.send_header("Content-Length", "10")
            self.end_headers()
            self.connection.recv(1)
            self.close_connection = True
        elif name == "drip":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b"1000\r\n" + b"x" * 4096 + b"\r\n")
            except OSError:
                self.close_connection = True
        else:
            self.take(body)
            if name == "once":
                with open(os.path.join(folder, "mode"), "w") as file:
                    file.write("ok")
            self.answer(int(first) if name in ("ok", "once") and first else 200)

    do_PUT = do_POST


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        # A client may close its connection at any time.
        pass


server = Server(("127.0.0.1", int(sys.argv[2])), Handler)
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[3], sys.argv[4])
    if len(sys.argv) > 5:
        context.load_verify_locations(sys.argv[5])
        context.verify_mode = ssl.CERT_REQUIRED
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
