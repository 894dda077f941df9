#pragma once
#include <stddef.h>

/// Compresses bytes to one member of gzip with zlib's level 1, and returns its size.
///
/// The result is 0 if the member takes more than `size` bytes, or there is not enough memory.
size_t deflate_to_gzip(const void *bytes, size_t count, void *room, size_t size);

/// Lets a pipe hold this many bytes, on Linux.
void set_pipe_room(int descriptor, int bytes);
