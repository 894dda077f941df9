// The C face of simdjson's DOM parser: it gives out the tape itself, so that Swift walks it without a call a value.
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
    const uint64_t *_Nullable tape;
    const uint8_t *_Nullable strings;
    // Byte offsets of every structural character and of every scalar's first byte, in the order of the text.
    const uint32_t *_Nullable structurals;
    uint32_t structural_count;
    // Whether the text holds a backslash: without one, every string stands on the tape as it stood in the text.
    bool has_escapes;
} csimdjson_document;

// NULL when there is no memory.
csimdjson_parser *_Nullable csimdjson_parser_create(void);
void csimdjson_parser_destroy(csimdjson_parser *_Nonnull parser);

// How many bytes behind a text must be readable.
size_t csimdjson_padding(void);

// Parses `length` bytes, behind which csimdjson_padding() more are readable. The document is valid until the next call.
csimdjson_error csimdjson_parse(
    csimdjson_parser *_Nonnull parser, const uint8_t *_Nonnull text, size_t length, csimdjson_document *_Nonnull document
);

// Finds the structure of lines that hold a document each, in one pass over all of them; false where it cannot, and each
// line has to be parsed alone. The text must stay where it is, and csimdjson_padding() bytes behind it readable.
bool csimdjson_index_lines(csimdjson_parser *_Nonnull parser, const uint8_t *_Nonnull text, size_t length);

// Parses the line from `start` to `end` of the text that was indexed; each line must come after the one before.
// False where it is not exactly one document that is an object: parsed alone, it tells why. The offsets of the
// structurals count from the start of the text. The document is valid until the next call.
bool csimdjson_parse_line(
    csimdjson_parser *_Nonnull parser, size_t start, size_t end, csimdjson_document *_Nonnull document
);

#ifdef __cplusplus
}
#endif
