import JSONTape

/// The buffers for translations, which all connections of an event loop share, one body after another.
final class TranslationTools {
    /// The size of a text up to which the buffers are kept for the next one.
    private static let maximumKeptBytes = 256 << 10

    /// The maximum number of events of a body; one more is translated, so that the check knows that there are more.
    let maximumEvents: Int
    private var indexer = JSONIndexer()
    /// A copy of a text, with the padding that the indexer requires.
    private var padded: [UInt8] = []

    init(maximumEvents: Int) {
        self.maximumEvents = maximumEvents
    }

    /// Calls `body` with the structure of a text; with `nil` if it has none.
    func withStructure<Result>(
        of text: UnsafeRawBufferPointer,
        _ body: (JSONStructure?) throws -> Result
    ) rethrows -> Result {
        padded.removeAll(keepingCapacity: padded.capacity <= Self.maximumKeptBytes)
        // The indexer's buffers are several times as large as the text, and no limit counts them between two texts.
        defer { if text.count > Self.maximumKeptBytes { indexer = JSONIndexer() } }
        padded.reserveCapacity(text.count + JSONParser.padding)
        padded.append(contentsOf: text)
        padded.append(contentsOf: repeatElement(0, count: JSONParser.padding))
        return try padded.withUnsafeBytes { bytes in
            try body(indexer.index(UnsafeRawBufferPointer(rebasing: bytes.prefix(text.count))))
        }
    }
}
