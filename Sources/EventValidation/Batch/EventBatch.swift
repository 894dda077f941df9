public import EventModel

/// Many accepted events in one immutable buffer, made once and shared by everything downstream.
///
/// Each event is one line of canonical JSON, ending in a newline; beside the lines stands one entry an event with
/// what trackers ask for most. Handing a batch to another tracker costs one reference count.
public final class EventBatch: Sendable {
    /// What is known of an event without reading its line.
    public struct Entry: Sendable {
        /// The event's identity.
        public let id: EventID
        /// When it happened.
        public let time: Timestamp
        /// Which of the catalog's definitions it follows.
        public let definitionIndex: UInt32
        /// Where its line ends in the batch's bytes, the newline included.
        package let end: UInt32

        package init(id: EventID, time: Timestamp, definitionIndex: UInt32, end: UInt32) {
            self.id = id
            self.time = time
            self.definitionIndex = definitionIndex
            self.end = end
        }
    }

    /// The catalog that `definitionIndex` points into.
    public let catalog: EventCatalog
    /// One entry an event, in the order in which they arrived.
    public let entries: [Entry]
    /// The union of the trackers its events name.
    package let trackerMask: UInt64
    /// Whether every event in it goes to every tracker of `trackerMask`.
    package let isUniform: Bool

    // Safe to share: the memory is written before the batch exists, never after, and freed with it.
    nonisolated(unsafe) private let storage: UnsafeRawBufferPointer

    /// How many bytes all lines take together.
    public var byteCount: Int { storage.count }
    /// How many events it holds.
    public var count: Int { entries.count }

    /// Takes over `storage`, which must come from `UnsafeMutableRawPointer.allocate`.
    package init(catalog: EventCatalog, entries: [Entry], adopting storage: UnsafeRawBufferPointer) {
        self.catalog = catalog
        self.entries = entries
        self.storage = storage
        var union: UInt64 = 0
        var common = UInt64.max
        for entry in entries {
            let mask = catalog.trackerMasks[Int(entry.definitionIndex)]
            union |= mask
            common &= mask
        }
        trackerMask = union
        isUniform = union == common
    }

    deinit {
        UnsafeMutableRawPointer(mutating: storage.baseAddress)?.deallocate()
    }

    /// The bytes of one event's line, without its newline; the memory lives as long as the batch.
    ///
    /// The pointer must not outlive the batch: a tracker that hands it to C keeps the batch until C is done.
    @inline(__always)
    public func line(at index: Int) -> UnsafeRawBufferPointer {
        let start = index == 0 ? 0 : Int(entries[index - 1].end)
        return UnsafeRawBufferPointer(rebasing: storage[start..<Int(entries[index].end) - 1])
    }

    /// All lines, each with its newline; the memory lives as long as the batch.
    public var lines: UnsafeRawBufferPointer { storage }
}
