import CSimdJSON
import EventModel

/// simdjson's DOM parser for one document per line (NDJSON).
///
/// simdjson parses in two stages. Here the first stage runs once for all lines and the second one for each line, which is faster
/// than parsing the lines one by one. A line with an error must be parsed by `JSONParser`, which says what the error is.
public struct JSONLineParser: ~Copyable {
    private let handle: OpaquePointer?
    private var lines = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The structure of all lines.
    private var offsets = UnsafeBufferPointer<UInt32>(start: nil, count: 0)
    /// Where the search for the next line's first offset begins: at that offset in most cases, never behind it.
    private var place = 0
    /// The offset of the first backslash in or after the last line.
    private var nextEscape = 0

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
        var offsets: UnsafePointer<UInt32>?
        var count = 0
        guard
            let handle, let start = lines.baseAddress,
            csimdjson_index_lines(handle, start.assumingMemoryBound(to: UInt8.self), lines.count, &offsets, &count)
        else { return false }
        self.lines = lines
        self.offsets = UnsafeBufferPointer(start: offsets, count: count)
        place = 0
        nextEscape = escape(from: 0)
        return true
    }

    /// The structure of one of the lines for which `index` returned true; lines must be asked for in their order.
    ///
    /// - Returns: A view of the parser's memory, valid until the next call of `index` and only as long as the parser; `nil` if the
    ///   line has an escape, or has only white space.
    public mutating func structure(of line: Range<Int>) -> JSONLineStructure? {
        guard !hasEscapes(line) else { return nil }
        while place < offsets.count, Int(offsets[place]) < line.lowerBound { place &+= 1 }
        // The structure of an empty line would begin with the next line, which would then be read once for each of them.
        guard place < offsets.count, Int(offsets[place]) < line.upperBound else { return nil }
        let rest = UnsafeBufferPointer(rebasing: offsets[place...])
        return JSONLineStructure(text: lines, offsets: rest, end: line.upperBound)
    }

    /// Says how many places the last line takes, so that they need not be looked at again.
    public mutating func skip(_ places: Int) {
        place += places
    }

    /// Parses one of the lines for which `index` returned true; lines must be parsed in their order.
    ///
    /// - Returns: A view of the parser's memory, valid until the next call and only as long as the parser; `nil` if the line is
    ///   not exactly one JSON object, or has a whole number beyond 64 bits or a number beyond the range of a double.
    public mutating func parse(_ line: Range<Int>) -> JSONTape? {
        var document = csimdjson_document()
        guard
            let handle, csimdjson_parse_line(handle, line.lowerBound, line.upperBound, &document),
            let words = document.tape, let strings = document.strings, let start = document.structurals
        else { return nil }
        let structurals = UnsafeBufferPointer(start: start, count: Int(document.structural_count))
        if let first = offsets.baseAddress { place = first.distance(to: start) + structurals.count }
        return JSONTape(
            words: words,
            strings: UnsafeRawPointer(strings),
            hasEscapes: hasEscapes(line),
            structurals: structurals,
            text: lines
        )
    }

    private mutating func hasEscapes(_ line: Range<Int>) -> Bool {
        if nextEscape < line.lowerBound { nextEscape = escape(from: line.lowerBound) }
        return nextEscape < line.upperBound
    }

    /// The offset of the first backslash from an offset on; the length of the text if there is none.
    private func escape(from start: Int) -> Int {
        let rest = UnsafeRawBufferPointer(rebasing: lines[start...])
        return rest.firstIndex(ofByte: UInt8(ascii: "\\")).map { start + $0 } ?? lines.count
    }
}
