#include "CSimdJSON.h"

#include <cstring>
#include <new>
#include <simdjson.h>

struct csimdjson_parser {
    simdjson::dom::parser parser;
};

static csimdjson_error classify(simdjson::error_code error) {
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
        // One that got only a part of what it asked for follows a null pointer the next time (simdjson 3.0.1).
        parser->parser = simdjson::dom::parser();
    }
    if (error != simdjson::SUCCESS) {
        return classify(error);
    }
    document->tape = parser->parser.doc.tape.get();
    document->strings = parser->parser.doc.string_buf.get();
    document->structurals = parser->parser.implementation->structural_indexes.get();
    document->structural_count = parser->parser.implementation->n_structural_indexes;
    document->has_escapes = std::memchr(text, '\\', length) != nullptr;
    return CSIMDJSON_OK;
}
