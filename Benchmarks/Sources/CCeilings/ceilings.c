// For F_SETPIPE_SZ.
#define _GNU_SOURCE
#include "CCeilings.h"

#include <fcntl.h>
#include <string.h>
#include <zlib.h>

size_t deflate_to_gzip(const void *bytes, size_t count, void *room, size_t size) {
    z_stream stream;
    memset(&stream, 0, sizeof stream);
    // The tracker's settings: 16 asks for the gzip wrapper, 15 is the largest window, and 8 zlib's own default of memory.
    if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 16 + 15, 8, Z_DEFAULT_STRATEGY) != Z_OK) return 0;
    stream.next_in = (Bytef *)bytes;
    stream.avail_in = (uInt)count;
    stream.next_out = room;
    stream.avail_out = (uInt)size;
    const int status = deflate(&stream, Z_FINISH);
    const size_t written = size - stream.avail_out;
    deflateEnd(&stream);
    return status == Z_STREAM_END ? written : 0;
}

void set_pipe_room(int descriptor, int bytes) {
#ifdef F_SETPIPE_SZ
    fcntl(descriptor, F_SETPIPE_SZ, bytes);
#else
    (void)descriptor;
    (void)bytes;
#endif
}
