// A C interface to simdjson's DOM parser: it exposes the tape itself, so that Swift reads it without a call per value.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct csimdjson_parser csimdjson_parser;

typedef enum {
    CSIMDJSON_OK = 0,
    CSIMDJSON_EMPTY,
    CSIMDJSON_SYNTAX,
    CSIMDJSON_STRING,
    CSIMDJSON_NUMBER,
    CSIMDJSON_UTF8,
    CSIMDJSON_DEPTH,
    CSIMDJSON_MEMORY,
} csimdjson_error;

typedef struct {
    uint64_t *_Nullable tape;
    const uint8_t *_Nullable strings;
    // Byte offsets of every structural character and of every scalar's first byte, in the order of the text.
    const uint32_t *_Nullable structurals;
    uint32_t structural_count;
} csimdjson_document;

// Returns NULL if there is not enough memory.
csimdjson_parser *_Nullable csimdjson_parser_create(void);
void csimdjson_parser_destroy(csimdjson_parser *_Nonnull parser);

// The number of bytes after a text that must be readable.
size_t csimdjson_padding(void);

// Parses `length` bytes, followed by csimdjson_padding() readable ones. The document is valid until the next call.
csimdjson_error csimdjson_parse(
    csimdjson_parser *_Nonnull parser, const uint8_t *_Nonnull text, size_t length, csimdjson_document *_Nonnull document
);

// Indexes the structure of one text without parsing it: the offsets of its brackets, separators and first bytes of values.
// It only checks that the text is UTF-8, and that strings are closed and contain no control characters. Returns false if it
// is not so, or if there is not enough memory. The offsets are valid until the next call.
bool csimdjson_index(
    csimdjson_parser *_Nonnull parser, const uint8_t *_Nonnull text, size_t length,
    const uint32_t *_Nullable *_Nonnull offsets, size_t *_Nonnull count
);

// Indexes the structure of lines with one document each, in one pass over all of them. Returns false if it cannot; then
// each line must be parsed alone. The text must not move, and csimdjson_padding() bytes after it must be readable. The offsets
// are like those of csimdjson_index, of all lines together, and valid until the next call of another function than csimdjson_parse_line.
bool csimdjson_index_lines(
    csimdjson_parser *_Nonnull parser, const uint8_t *_Nonnull text, size_t length,
    const uint32_t *_Nullable *_Nonnull offsets, size_t *_Nonnull count
);

// Parses the line from `start` to `end` of the indexed text; the lines must be parsed in ascending order.
// Returns false if the line is not exactly one document that is an object; parse it alone to learn why. The offsets of
// the structurals count from the start of the text. The document is valid until the next call.
bool csimdjson_parse_line(
    csimdjson_parser *_Nonnull parser, size_t start, size_t end, csimdjson_document *_Nonnull document
);

#ifdef __cplusplus
}
#endif
