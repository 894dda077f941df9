import ArgumentParser
import EventJournal
import EventQuarantine
import TrackerKit

/// Where quarantined records are stored: the quarantine's folder, or a PostgreSQL tracker's table of refused records.
protocol QuarantineStore: Sendable {
    /// Calls `body` with each record that the filter selects.
    ///
    /// Records that cannot be read are printed after the last one, and throw exit status 1.
    func forEach(_ filter: QuarantineFilter, _ body: (QuarantineRecord) throws -> Void) async throws

    /// The keys of the records that replays have sent and that the store still has.
    func sentKeys() throws -> Set<String>

    /// Opens a source that reads the selected records and checks them again.
    func source(_ selection: ReplaySelection, stop: Interrupt) throws -> any ReplaySource

    /// Opens what stores which records a replay has sent.
    func sentRecordLog() throws -> any SentRecordLog

    /// Closes connections.
    func close() async
}

/// The quarantine's folder, in which a record stays after it was sent.
struct FolderQuarantine: QuarantineStore {
    let path: String

    func forEach(_ filter: QuarantineFilter, _ body: (QuarantineRecord) throws -> Void) async throws {
        try Terminal.reportingFailures {
            var scan = try QuarantineScan(QuarantineFolder(path: path), filter)
            while let record = try scan.next() { try body(record) }
            try Terminal.report(scan.findings)
        }
    }

    func sentKeys() throws -> Set<String> {
        try Terminal.reportingFailures { try SentRecords(ofQuarantine: path, changes: false).keys }
    }

    func source(_ selection: ReplaySelection, stop: Interrupt) throws -> any ReplaySource {
        try QuarantineSource(selection, folder: path, isStopped: { stop.isRaised })
    }

    func sentRecordLog() throws -> any SentRecordLog {
        FolderSentRecordLog(try SentRecords(ofQuarantine: path, changes: true))
    }

    func close() async {}
}

extension Terminal {
    /// Prints what could not be read.
    ///
    /// - Throws: Exit status 1 if there is anything.
    static func report(_ findings: [String]) throws {
        for finding in findings { printError("error: \(finding)") }
        if !findings.isEmpty { throw ExitCode(1) }
    }
}
