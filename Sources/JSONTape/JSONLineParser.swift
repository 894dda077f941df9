import CSimdJSON

/// simdjson's DOM parser for documents that stand one a line.
///
/// What simdjson does in two stages it does here once for all lines, and then a line at a time: that is faster than
/// parsing each line alone. A line on which anything is wrong is for `JSONParser` to parse, which tells what it is.
package struct JSONLineParser: ~Copyable {
    private let handle: OpaquePointer?
    private var lines = UnsafeRawBufferPointer(start: nil, count: 0)

    /// Makes a parser without buffers yet.
    package init() {
        handle = csimdjson_parser_create()
    }

    deinit {
        if let handle { csimdjson_parser_destroy(handle) }
    }

    /// Finds the structure of all lines; says no where it cannot, and each line has to be parsed alone.
    ///
    /// - Parameter lines: Less than 4 GiB that stay where they are while the lines are parsed, with
    ///   `JSONParser.padding` more readable bytes behind them.
    package mutating func index(_ lines: UnsafeRawBufferPointer) -> Bool {
        self.lines = lines
        guard let handle, let start = lines.baseAddress else { return false }
        return csimdjson_index_lines(handle, start.assumingMemoryBound(to: UInt8.self), lines.count)
    }

    /// Parses one of the lines that `index` said yes to; each must come after the one before.
    ///
    /// - Returns: A view of the parser's own memory, valid until the next call or the parser's end; `nil` where the line
    ///   is not exactly one document, or no object.
    @inline(__always)
    package mutating func parse(_ line: Range<Int>) -> JSONTape? {
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
