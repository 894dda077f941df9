package import TrackerKit

/// The records that loaders could not load into a tracker, as its destination keeps them.
///
/// A record that was sent again is removed.
package struct RefusedRecords: QuarantineStore {
    /// Reads and removes the records, in a session of its own.
    private let tracker: any PartitionTracker
    private let loader: String?
    private let delivered = DeliveredEvents()

    /// Creates a store of the records that a tracker's destination keeps; it connects when it is read.
    ///
    /// `loader` is the loader that refused the records, or `nil` for all loaders.
    package init(of tracker: any PartitionTracker, loader: String?) {
        self.tracker = tracker
        self.loader = loader
    }

    /// The name of the tracker.
    package var trackerName: String { tracker.name }

    /// Reads the records page by page, and disconnects.
    package func forEach(
        _ filter: QuarantineFilter,
        _ body: (QuarantineRecord) throws -> Void
    ) async throws -> [String] {
        var scan = RefusedScan(tracker, loader: loader, filter)
        while let entry = try await scan.next() { try body(entry.record) }
        await close()
        return scan.findings
    }

    /// None, because a record that was sent is removed.
    package func sentKeys() -> Set<String> { [] }

    /// Opens the records for a replay.
    package func source(_ selection: ReplaySelection, stop: Interrupt) -> any ReplaySource {
        let scan = RefusedScan(tracker, loader: loader, selection.quarantineFilter)
        return RefusedSource(scan, catalog: selection.catalog, tracker: tracker.name, stop: stop)
    }

    /// What removes the records that were sent.
    package func sentRecordLog() -> any SentRecordLog { RefusedSentRecordLog(tracker, delivered) }

    /// The tracker to deliver to; what it delivers is noted, and its records are removed.
    package func noting(_ tracker: any Tracker) -> any Tracker { NotingTracker(tracker, delivered) }

    /// Disconnects.
    package func close() async { await tracker.stop() }
}
