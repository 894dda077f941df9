import CSimdJSON

/// Finds the structure of JSON texts without parsing them, with simdjson's first stage.
///
/// It reuses its buffers for the next text.
public struct JSONIndexer: ~Copyable {
    private let handle: OpaquePointer?
    /// For each bracket that opens a value, where the value ends.
    private var ends: UnsafeMutablePointer<UInt32>
    private var capacity = 0

    /// Creates an indexer; its buffers are allocated when they are first needed.
    public init() {
        handle = csimdjson_parser_create()
        ends = .allocate(capacity: 0)
    }

    deinit {
        if let handle { csimdjson_parser_destroy(handle) }
        ends.deallocate()
    }

    /// Finds the structure of a text of less than 4 GiB.
    ///
    /// - Parameter text: `JSONParser.padding` more bytes after it must be readable.
    /// - Returns: A view of the indexer's memory, valid until the next call and only as long as the indexer; `nil` if the text is
    ///   not UTF-8, a string is not closed or contains a control character, the brackets are not balanced, or there is not enough
    ///   memory.
    public mutating func index(_ text: UnsafeRawBufferPointer) -> JSONStructure? {
        var offsets: UnsafePointer<UInt32>?
        var count = 0
        guard
            let handle, let start = text.baseAddress,
            csimdjson_index(handle, start.assumingMemoryBound(to: UInt8.self), text.count, &offsets, &count),
            let offsets
        else { return nil }
        reserve(count)
        guard matchBrackets(of: text, UnsafeBufferPointer(start: offsets, count: count)) else { return nil }
        return JSONStructure(text: text, offsets: UnsafeBufferPointer(start: offsets, count: count), ends: ends)
    }

    private mutating func reserve(_ count: Int) {
        guard capacity < count else { return }
        ends.deallocate()
        capacity = max(1024, count + count / 4)
        ends = .allocate(capacity: capacity)
    }

    /// Notes where each value with brackets ends; false if the brackets are not balanced.
    private func matchBrackets(of text: UnsafeRawBufferPointer, _ offsets: UnsafeBufferPointer<UInt32>) -> Bool {
        // Until a bracket is closed, its entry has the place of the bracket around it.
        var open = UInt32.max
        for place in 0..<offsets.count {
            let byte = text[Int(offsets[place])]
            // The brackets differ from each other and from other bytes in these bits: 0x5B and 0x7B, 0x5D and 0x7D.
            switch byte | 0x20 {
            case UInt8(ascii: "{"):
                ends[place] = open
                open = UInt32(truncatingIfNeeded: place)
            case UInt8(ascii: "}"):
                guard open != .max, byte == text[Int(offsets[Int(open)])] + 2 else { return false }
                let around = ends[Int(open)]
                ends[Int(open)] = UInt32(truncatingIfNeeded: place + 1)
                open = around
            default:
                break
            }
        }
        return open == .max
    }
}
