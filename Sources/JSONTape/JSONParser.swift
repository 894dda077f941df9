import CSimdJSON
import EventModel

/// Why a text is not a JSON document.
public enum JSONError: Error, Sendable, Hashable {
    /// The text is empty.
    case empty
    /// The structure does not follow RFC 8259, the text ends too early, or something follows the document.
    case syntax
    /// A string is not closed, or contains a control character or an invalid escape.
    case string
    /// A number does not follow RFC 8259.
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

    /// Parses one document of less than 4 GiB.
    ///
    /// Numbers may have any size; see `JSONTape.double`.
    ///
    /// - Parameter text: The document; `padding` more bytes after it must be readable.
    /// - Returns: A view of the parser's memory, valid until the next call and only as long as the parser.
    /// - Throws: Why the text is not a JSON document, or `memory`; a larger document also fails with `memory`.
    public mutating func parse(_ text: UnsafeRawBufferPointer) throws(JSONError) -> JSONTape {
        do throws(JSONError) {
            return try parse(text, describing: text).tape
        } catch {
            guard error == .number, let numbers = OversizedNumbers(in: text) else { throw error }
            return try parse(text, with: numbers)
        }
    }

    private mutating func parse(
        _ text: UnsafeRawBufferPointer,
        with numbers: OversizedNumbers
    ) throws(JSONError) -> JSONTape {
        let parsed = numbers.masked.withUnsafeBytes { masked -> Result<JSONTape, JSONError> in
            do throws(JSONError) {
                // The tape has copies of the strings, so it needs only the original text.
                let document = UnsafeRawBufferPointer(rebasing: masked.prefix(text.count))
                let (tape, words) = try parse(document, describing: text)
                numbers.restore(in: tape, words)
                return .success(tape)
            } catch {
                return .failure(error)
            }
        }
        return try parsed.get()
    }

    /// Parses a text whose tape refers to `original`, which has the same structure.
    private mutating func parse(
        _ text: UnsafeRawBufferPointer,
        describing original: UnsafeRawBufferPointer
    ) throws(JSONError) -> (tape: JSONTape, words: UnsafeMutablePointer<UInt64>) {
        guard let start = text.baseAddress else { throw .empty }
        guard let handle else { throw .memory }
        var document = csimdjson_document()
        let bytes = start.assumingMemoryBound(to: UInt8.self)
        switch csimdjson_parse(handle, bytes, text.count, &document) {
        case CSIMDJSON_OK:
            guard let words = document.tape, let strings = document.strings else { throw .memory }
            let tape = JSONTape(
                words: words,
                strings: UnsafeRawPointer(strings),
                hasEscapes: text.firstIndex(ofByte: UInt8(ascii: "\\")) != nil,
                structurals: UnsafeBufferPointer(start: document.structurals, count: Int(document.structural_count)),
                text: original
            )
            return (tape, words)
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
