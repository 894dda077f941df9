import CSimdJSON

/// Why a text is no JSON document.
package enum JSONError: Error, Sendable, Hashable {
    /// There is nothing in it.
    case empty
    /// Its structure breaks RFC 8259, or it ends early, or something follows it.
    case syntax
    /// A string is not closed, holds a raw control character, or a broken escape.
    case string
    /// A number breaks RFC 8259, or is beyond a double, or is a whole number beyond 64 bits.
    case number
    /// It is not valid UTF-8.
    case encoding
    /// It nests deeper than 1,024 levels.
    case depth
    /// There was no memory to parse it.
    case memory
}

/// simdjson's DOM parser: bytes in, tape out.
///
/// Its buffers are kept from text to text.
package struct JSONParser: ~Copyable {
    /// How many bytes behind a text must be readable (what they hold does not matter).
    package static let padding = csimdjson_padding()

    private let handle: OpaquePointer?

    /// Makes a parser without buffers yet.
    package init() {
        handle = csimdjson_parser_create()
    }

    deinit {
        if let handle { csimdjson_parser_destroy(handle) }
    }

    /// Parses one document of at most 4 GiB.
    ///
    /// - Parameter text: The document; `padding` more bytes behind it must be readable.
    /// - Returns: A view of the parser's own memory, valid until the next call or the parser's end.
    package mutating func parse(_ text: UnsafeRawBufferPointer) throws(JSONError) -> JSONTape {
        guard let start = text.baseAddress else { throw .empty }
        guard let handle else { throw .memory }
        var document = csimdjson_document()
        let bytes = start.assumingMemoryBound(to: UInt8.self)
        switch csimdjson_parse(handle, bytes, text.count, &document) {
        case CSIMDJSON_OK:
            guard let words = document.tape, let strings = document.strings else { throw .memory }
            return JSONTape(
                words: words,
                strings: UnsafeRawPointer(strings),
                hasEscapes: document.has_escapes,
                structurals: UnsafeBufferPointer(start: document.structurals, count: Int(document.structural_count)),
                text: text
            )
        case CSIMDJSON_EMPTY: throw .empty
        case CSIMDJSON_STRING: throw .string
        case CSIMDJSON_NUMBER: throw .number
        case CSIMDJSON_UTF8: throw .encoding
        case CSIMDJSON_DEPTH: throw .depth
        case CSIMDJSON_MEMORY: throw .memory
        default: throw .syntax
        }
    }
}
