"""A client with several requests over one HTTP/2 connection whose bodies do not end until it is told so.

    http2_streams.py PORT CERTIFICATE PATH COUNT

Prints `answer STREAM BODY` for each answer, and at the end `closed`. After a line on standard input it ends the bodies.
"""
import sys
import threading

from http2_abuse import DATA, END_HEADERS, END_STREAM, HEADERS, PREFACE, SETTINGS, connect, frame, header_block
from http2_shutdown import BODY, frames


def main():
    port, certificate, path, count = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
    connection = connect(port, certificate)
    streams = [2 * number + 1 for number in range(count)]
    answered = set()
    connection.sendall(PREFACE + frame(SETTINGS, 0, 0))
    for stream in streams:
        connection.sendall(frame(HEADERS, END_HEADERS, stream, header_block(3, path)))

    def end():
        sys.stdin.readline()
        for stream in streams:
            if stream not in answered:
                connection.sendall(frame(DATA, END_STREAM, stream, BODY))

    threading.Thread(target=end, daemon=True).start()
    for kind, flags, stream, payload in frames(connection):
        if kind == DATA and flags & END_STREAM:
            answered.add(stream)
            print("answer", stream, payload.decode(), flush=True)
    print("closed", flush=True)


main()
