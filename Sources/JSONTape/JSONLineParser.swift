import CSimdJSON

/// simdjson's DOM parser for one document per line (NDJSON).
///
/// simdjson parses in two stages. Here the first stage runs once for all lines and the second one for each line, which is faster
/// than parsing the lines one by one. A line with an error must be parsed by `JSONParser`, which says what the error is.
public struct JSONLineParser: ~Copyable {
    private let handle: OpaquePointer?
    private var lines = UnsafeRawBufferPointer(start: nil, count: 0)

    /// Creates a parser; its buffers are allocated when they are first needed.
    public init() {
        handle = csimdjson_parser_create()
    }

    deinit {
        if let handle { csimdjson_parser_destroy(handle) }
    }

    /// Finds the structure of all lines; false if that fails, and each line has to be parsed on its own.
    ///
    /// The lines must take less than 4 GiB, and must not move or change while they are parsed. `JSONParser.padding` more bytes
    /// after them must be readable.
    public mutating func index(_ lines: UnsafeRawBufferPointer) -> Bool {
        self.lines = lines
        guard let handle, let start = lines.baseAddress else { return false }
        return csimdjson_index_lines(handle, start.assumingMemoryBound(to: UInt8.self), lines.count)
    }

    /// Parses one of the lines for which `index` returned true; lines must be parsed in their order.
    ///
    /// - Returns: A view of the parser's memory, valid until the next call and only as long as the parser; `nil` if the line is
    ///   not exactly one JSON object, or has a whole number beyond 64 bits or a number beyond the range of a double.
    public mutating func parse(_ line: Range<Int>) -> JSONTape? {
        var document = csimdjson_document()
        guard
            let handle, csimdjson_parse_line(handle, line.lowerBound, line.upperBound, &document),
            let words = document.tape, let strings = document.strings
        else { return nil }
        return JSONTape(
            words: words,
            strings: UnsafeRawPointer(strings),
            hasEscapes: document.has_escapes,
            structurals: UnsafeBufferPointer(start: document.structurals, count: Int(document.structural_count)),
            text: lines
        )
    }
}
