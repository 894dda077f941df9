"""Serves the files of a folder over HTTP, as a web site of another origin, and prints its URL.

Usage: pages.py FOLDER
"""

import functools
import http.server
import sys


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


handler = functools.partial(Handler, directory=sys.argv[1])
site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
print(f"http://127.0.0.1:{site.server_port}", flush=True)
site.serve_forever()
