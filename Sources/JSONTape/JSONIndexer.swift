import CSimdJSON

/// Finds the structure of JSON texts without parsing them, with simdjson's first stage.
///
/// It reuses its buffers for the next text.
public struct JSONIndexer: ~Copyable {
    private let handle: OpaquePointer?

    /// Creates an indexer; its buffers are allocated when they are first needed.
    public init() {
        handle = csimdjson_parser_create()
    }

    deinit {
        if let handle { csimdjson_parser_destroy(handle) }
    }

    /// Finds the structure of a text of less than 4 GiB.
    ///
    /// - Parameter text: `JSONParser.padding` more bytes after it must be readable.
    /// - Returns: A view of the indexer's memory, valid until the next call and only as long as the indexer; `nil` if the text is
    ///   not UTF-8, a string is not closed or contains a control character, or there is not enough memory.
    public mutating func index(_ text: UnsafeRawBufferPointer) -> JSONStructure? {
        var offsets: UnsafePointer<UInt32>?
        var count = 0
        guard
            let handle, let start = text.baseAddress,
            csimdjson_index(handle, start.assumingMemoryBound(to: UInt8.self), text.count, &offsets, &count)
        else { return nil }
        return JSONStructure(text: text, offsets: UnsafeBufferPointer(start: offsets, count: count))
    }
}
