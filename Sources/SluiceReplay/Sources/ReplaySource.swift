package import EventValidation

/// A source of events that a replay reads and validates, part by part.
///
/// A source is used by one thread at a time, which is not of the cooperative pool, so its calls may block.
package protocol ReplaySource: AnyObject {
    /// The number of bytes read so far, for the progress.
    var bytesRead: Int { get }

    /// The next part; `nil` after the last, and once the replay is interrupted.
    ///
    /// - Throws: whatever keeps the rest of the source from being read.
    func next() async throws -> ReplayPart?

    /// Returns a sentence for each part that was skipped because it could not be read, since the last call.
    func takeFailures() -> [String]
}

/// A part of a source, validated.
package struct ReplayPart: Sendable {
    /// The accepted events and the rejected ones.
    package let checked: CheckedBody
    /// Whether the events come from a quarantine, which keeps them already.
    package var isQuarantined = false
    /// The record that this part is; `nil` unless the source is the quarantine.
    package var recordKey: QuarantinedRecordKey?

    /// Creates a part; it is a record of a quarantine if it has a key.
    package init(checked: CheckedBody, isQuarantined: Bool = false, recordKey: QuarantinedRecordKey? = nil) {
        self.checked = checked
        self.isQuarantined = isQuarantined
        self.recordKey = recordKey
    }

    /// Whether a replay to some trackers delivers to every configured tracker that a record needs, because a record is sent only
    /// once; names are in lower case.
    package func isSent(_ batch: EventBatch, to trackers: Set<String>, configured: Set<String>) -> Bool {
        guard recordKey != nil else { return true }
        let named = batch.entries.flatMap { batch.catalog.trackers(ofDefinition: Int($0.definitionIndex)) }
        let wanted = Set(named.map { $0.lowercased() }).intersection(configured)
        return !wanted.isEmpty && wanted.isSubset(of: trackers)
    }
}

/// What a replay reads from its sources, and how.
package struct ReplaySelection: Sendable {
    /// What the events are validated against.
    package let catalog: EventCatalog
    /// The maximum number of lines in a part.
    package let maximumLines: Int
    /// The times of the events that are wanted, in microseconds since 1970; `nil` for all.
    ///
    /// Sources may leave out other events if they can do so without reading them.
    package let times: ClosedRange<Int64>?
    /// What `quarantine` means.
    package let quarantine: any QuarantineStore
    /// The records to read of that quarantine.
    package let quarantineFilter: QuarantineFilter

    /// Creates a selection; by default, it is everything, in parts of any size.
    package init(
        catalog: EventCatalog,
        maximumLines: Int = .max,
        times: ClosedRange<Int64>? = nil,
        quarantine: any QuarantineStore,
        quarantineFilter: QuarantineFilter = QuarantineFilter()
    ) {
        self.catalog = catalog
        self.maximumLines = maximumLines
        self.times = times
        self.quarantine = quarantine
        self.quarantineFilter = quarantineFilter
    }
}
