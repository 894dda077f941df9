#include "CSimdJSON.h"

#if !__has_include(<simdjson.h>)
#error "simdjson is not installed: run `apt-get install libsimdjson-dev` (Debian, Ubuntu) or `brew install simdjson` (macOS)."
#endif
#include <simdjson.h>

#include <new>

struct csimdjson_parser {
    simdjson::dom::parser parser;
    // The lines that were indexed.
    const uint8_t *lines = nullptr;
};

// Newer versions of simdjson have a code of its own for a whole number beyond 64 bits.
template <typename Code> static auto is_big_integer(Code error, int) -> decltype(error == Code::BIGINT_ERROR) {
    return error == Code::BIGINT_ERROR;
}
template <typename Code> static bool is_big_integer(Code, long) {
    return false;
}

static csimdjson_error classify(simdjson::error_code error) {
    if (is_big_integer(error, 0)) {
        return CSIMDJSON_NUMBER;
    }
    switch (error) {
    case simdjson::SUCCESS:
        return CSIMDJSON_OK;
    case simdjson::EMPTY:
        return CSIMDJSON_EMPTY;
    case simdjson::STRING_ERROR:
    case simdjson::UNESCAPED_CHARS:
    case simdjson::UNCLOSED_STRING:
        return CSIMDJSON_STRING;
    case simdjson::NUMBER_ERROR:
    case simdjson::NUMBER_OUT_OF_RANGE:
        return CSIMDJSON_NUMBER;
    case simdjson::UTF8_ERROR:
        return CSIMDJSON_UTF8;
    case simdjson::DEPTH_ERROR:
        return CSIMDJSON_DEPTH;
    case simdjson::MEMALLOC:
    case simdjson::CAPACITY:
        return CSIMDJSON_MEMORY;
    default:
        return CSIMDJSON_SYNTAX;
    }
}

csimdjson_parser *csimdjson_parser_create(void) {
    return new (std::nothrow) csimdjson_parser;
}

void csimdjson_parser_destroy(csimdjson_parser *parser) {
    delete parser;
}

size_t csimdjson_padding(void) {
    return simdjson::SIMDJSON_PADDING;
}

csimdjson_error csimdjson_parse(
    csimdjson_parser *parser, const uint8_t *text, size_t length, csimdjson_document *document
) {
    simdjson::error_code error = parser->parser.parse(text, length, false).error();
    if (error == simdjson::MEMALLOC) {
        // A parser whose allocation partly failed dereferences a null pointer at its next use (simdjson 3.0.1), so replace it.
        parser->parser = simdjson::dom::parser();
    }
    if (error != simdjson::SUCCESS) {
        return classify(error);
    }
    document->tape = parser->parser.doc.tape.get();
    document->strings = parser->parser.doc.string_buf.get();
    document->structurals = parser->parser.implementation->structural_indexes.get();
    document->structural_count = parser->parser.implementation->n_structural_indexes;
    return CSIMDJSON_OK;
}

static bool reserve(csimdjson_parser *parser, size_t length) {
    simdjson::dom::parser &dom = parser->parser;
    if (dom.implementation && dom.capacity() >= length && dom.doc.capacity() >= length) {
        return true;
    }
    if (dom.allocate(length) == simdjson::SUCCESS && dom.doc.allocate(length) == simdjson::SUCCESS) {
        return true;
    }
    dom = simdjson::dom::parser();
    return false;
}

bool csimdjson_index(
    csimdjson_parser *parser, const uint8_t *text, size_t length, const uint32_t **offsets, size_t *count
) {
    simdjson::dom::parser &dom = parser->parser;
    if (length == 0 || ((!dom.implementation || dom.capacity() < length) && dom.allocate(length) != simdjson::SUCCESS)) {
        return false;
    }
    auto &implementation = *dom.implementation;
    if (implementation.stage1(text, length, simdjson::stage1_mode::regular) != simdjson::SUCCESS) {
        return false;
    }
    *offsets = implementation.structural_indexes.get();
    *count = implementation.n_structural_indexes;
    return true;
}

bool csimdjson_index_lines(
    csimdjson_parser *parser, const uint8_t *text, size_t length, const uint32_t **offsets, size_t *count
) {
    if (length == 0 || !reserve(parser, length)) {
        return false;
    }
    auto &implementation = *parser->parser.implementation;
    if (implementation.stage1(text, length, simdjson::stage1_mode::regular) != simdjson::SUCCESS) {
        return false;
    }
    // An unclosed document must not lead stage 2 past the last index. For a single document, simdjson makes sure of
    // that by checking its first and last bracket (its issue 906). The same check is sufficient for lines, if the first
    // bracket of the first line matches the last bracket of the last line.
    const uint32_t *indexes = implementation.structural_indexes.get();
    if (text[indexes[0]] != '{' || text[indexes[implementation.n_structural_indexes - 1]] != '}') {
        return false;
    }
    parser->lines = text;
    *offsets = indexes;
    *count = implementation.n_structural_indexes;
    return true;
}

bool csimdjson_parse_line(csimdjson_parser *parser, size_t start, size_t end, csimdjson_document *document) {
    auto &implementation = *parser->parser.implementation;
    const uint32_t *indexes = implementation.structural_indexes.get();
    const uint32_t count = implementation.n_structural_indexes;
    uint32_t first = implementation.next_structural_index;
    // If the previous line was not exactly one document, stage 2 stopped early in it or continued into this line.
    while (first < count && indexes[first] < start) {
        first++;
    }
    while (first > 0 && indexes[first - 1] >= start) {
        first--;
    }
    // simdjson copies everything that follows a bare number, up to the end of the last line.
    if (first >= count || indexes[first] >= end || parser->lines[indexes[first]] != '{') {
        return false;
    }
    implementation.next_structural_index = first;
    if (implementation.stage2_next(parser->parser.doc) != simdjson::SUCCESS) {
        return false;
    }
    const uint32_t next = implementation.next_structural_index;
    if (indexes[next - 1] >= end || (next < count && indexes[next] < end)) {
        return false;
    }
    document->tape = parser->parser.doc.tape.get();
    document->strings = parser->parser.doc.string_buf.get();
    document->structurals = indexes + first;
    document->structural_count = next - first;
    return true;
}
