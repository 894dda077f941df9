import JSONTape

/// The buffers for translations, which all connections of an event loop share, one body after another.
final class TranslationTools {
    private var indexer = JSONIndexer()
    /// A copy of a text, with the padding that the indexer requires.
    private var padded: [UInt8] = []

    /// Calls `body` with the structure of a text; with `nil` if it has none.
    func withStructure<Result>(
        of text: UnsafeRawBufferPointer,
        _ body: (JSONStructure?) throws -> Result
    ) rethrows -> Result {
        padded.removeAll(keepingCapacity: padded.capacity <= 1 << 20)
        padded.reserveCapacity(text.count + JSONParser.padding)
        padded.append(contentsOf: text)
        padded.append(contentsOf: repeatElement(0, count: JSONParser.padding))
        return try padded.withUnsafeBytes { bytes in
            try body(indexer.index(UnsafeRawBufferPointer(rebasing: bytes.prefix(text.count))))
        }
    }
}
