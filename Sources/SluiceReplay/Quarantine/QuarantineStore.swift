import EventJournal
import EventQuarantine
package import TrackerKit

/// Where quarantined records are stored: the quarantine's folder, or the refused records that a tracker's destination keeps.
package protocol QuarantineStore: Sendable {
    /// Calls `body` with each record that the filter selects.
    ///
    /// - Returns: A sentence for each record or part of the store that could not be read.
    /// - Throws: `JournalError` or `TrackerError` if the rest of the store cannot be read, and what `body` throws.
    func forEach(_ filter: QuarantineFilter, _ body: (QuarantineRecord) throws -> Void) async throws -> [String]

    /// The keys of the records that replays have sent and that the store still has.
    ///
    /// - Throws: `JournalError` if they cannot be read.
    func sentKeys() throws -> Set<String>

    /// Opens a source that reads the selected records and checks them again.
    func source(_ selection: ReplaySelection, stop: Interrupt) throws -> any ReplaySource

    /// Opens what stores which records a replay has sent.
    ///
    /// - Throws: `JournalError`, with the code `locked` if another process replays the same quarantine.
    func sentRecordLog() throws -> any SentRecordLog

    /// Closes connections.
    func close() async
}

/// The quarantine's folder, in which a record stays after it was sent.
package struct FolderQuarantine: QuarantineStore {
    private let path: String

    /// Creates a store of the quarantine in a folder, which is opened when it is read.
    package init(path: String) {
        self.path = path
    }

    /// Reads the folder, as `QuarantineStore` promises.
    package func forEach(
        _ filter: QuarantineFilter,
        _ body: (QuarantineRecord) throws -> Void
    ) async throws -> [String] {
        var scan = try QuarantineScan(QuarantineFolder(path: path), filter)
        while let record = try scan.next() { try body(record) }
        return scan.findings
    }

    /// The keys of the records that were sent.
    package func sentKeys() throws -> Set<String> { try SentRecords(ofQuarantine: path, changes: false).keys }

    /// Opens the folder for a replay.
    package func source(_ selection: ReplaySelection, stop: Interrupt) throws -> any ReplaySource {
        try QuarantineSource(selection, folder: path, isStopped: { stop.isRaised })
    }

    /// Opens the list of the sent records, and locks it.
    package func sentRecordLog() throws -> any SentRecordLog {
        FolderSentRecordLog(try SentRecords(ofQuarantine: path, changes: true))
    }

    /// Nothing: files are closed when they are not used any more.
    package func close() async {}
}
