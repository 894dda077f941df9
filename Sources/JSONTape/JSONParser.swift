import CSimdJSON

/// Why a text is not a JSON document.
public enum JSONError: Error, Sendable, Hashable {
    /// The text is empty.
    case empty
    /// The structure does not follow RFC 8259, the text ends too early, or something follows the document.
    case syntax
    /// A string is not closed, or contains a control character or an invalid escape.
    case string
    /// A number does not follow RFC 8259, or is out of the range of a double, or of 64 bits if it is whole.
    case number
    /// The text is not valid UTF-8.
    case encoding
    /// The document nests deeper than 1,024 levels.
    case depth
    /// There is not enough memory to parse the text.
    case memory
}

/// simdjson's DOM parser: bytes in, tape out.
///
/// It reuses its buffers for the next text.
public struct JSONParser: ~Copyable {
    /// The number of bytes after a text that must be readable; their values do not matter.
    public static let padding = csimdjson_padding()

    private let handle: OpaquePointer?

    /// Creates a parser; its buffers are allocated when they are first needed.
    public init() {
        handle = csimdjson_parser_create()
    }

    deinit {
        if let handle { csimdjson_parser_destroy(handle) }
    }

    /// Parses one document of at most 4 GiB.
    ///
    /// - Parameter text: The document; `padding` more bytes after it must be readable.
    /// - Returns: A view of the parser's memory, valid until the next call and only as long as the parser.
    public mutating func parse(_ text: UnsafeRawBufferPointer) throws(JSONError) -> JSONTape {
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
