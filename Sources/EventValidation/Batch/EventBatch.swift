public import EventModel

/// Accepted events in one immutable buffer, which all trackers share.
///
/// Each event is a line of canonical JSON with a newline at its end, and has an entry with the properties that trackers need
/// most. Handing a batch to another tracker costs one reference count.
public final class EventBatch: Sendable {
    /// The properties of an event that are known without reading its line.
    public struct Entry: Sendable {
        /// The event's identity.
        public let id: EventID
        /// When it happened.
        public let time: Timestamp
        /// The index of its definition in the catalog.
        public let definitionIndex: UInt32
        /// The position after its line and newline in the batch's bytes.
        @usableFromInline package let end: UInt32

        package init(id: EventID, time: Timestamp, definitionIndex: UInt32, end: UInt32) {
            self.id = id
            self.time = time
            self.definitionIndex = definitionIndex
            self.end = end
        }
    }

    /// The catalog that `definitionIndex` refers to.
    public let catalog: EventCatalog
    /// An entry for each event, in the order of arrival.
    public let entries: [Entry]
    /// The trackers of all events together, as a bit mask.
    package let trackerMask: UInt64
    /// Whether every event goes to every tracker in `trackerMask`.
    package let isUniform: Bool

    // Safe to share: the memory is written before the batch is created, never afterwards, and freed with the batch.
    @usableFromInline nonisolated(unsafe) let storage: UnsafeRawBufferPointer

    /// The size of all lines together, in bytes.
    @inlinable
    public var byteCount: Int { storage.count }
    /// The number of events.
    @inlinable
    public var count: Int { entries.count }

    /// Creates a batch that owns `storage`, which must come from `UnsafeMutableRawPointer.allocate`.
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

    /// The bytes of an event's line, without its newline; valid as long as the batch exists.
    ///
    /// A tracker that passes the pointer to a C library must retain the batch until the library is done.
    @inlinable
    @inline(__always)
    public func line(at index: Int) -> UnsafeRawBufferPointer {
        let start = index == 0 ? 0 : Int(entries[index - 1].end)
        return UnsafeRawBufferPointer(rebasing: storage[start..<Int(entries[index].end) - 1])
    }

    /// All lines, each with its newline; valid as long as the batch exists.
    @inlinable
    public var lines: UnsafeRawBufferPointer { storage }
}
