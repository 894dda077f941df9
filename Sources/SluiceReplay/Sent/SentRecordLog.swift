package import EventModel
package import TrackerKit

/// Stores durably which records of a quarantine were sent, so that each is sent once.
package protocol SentRecordLog: AnyObject {
    /// Stores which of these records were delivered.
    ///
    /// `areSettled` says whether the pipeline is done with the events of all of them.
    ///
    /// - Returns: The records whose delivery is still undecided.
    func store(_ records: [SentRecord], areSettled: Bool) async throws -> [SentRecord]
}

/// A quarantined record whose event the pipeline has accepted.
package struct SentRecord: Sendable {
    /// Identifies the record.
    package let key: QuarantinedRecordKey
    /// Identifies its event.
    package let event: EventKey

    /// Creates a record.
    package init(key: QuarantinedRecordKey, event: EventKey) {
        self.key = key
        self.event = event
    }
}

/// Identifies a quarantined record among all others.
package enum QuarantinedRecordKey: Sendable, Hashable {
    /// A record in the quarantine's folder: `QuarantineRecord.key`.
    case quarantined(String)
    /// A record in the destination of a tracker.
    case refused(RefusedRecordKey)
}

/// Identifies an event.
package struct EventKey: Sendable, Hashable {
    /// The event's id.
    package let id: EventID
    /// When the event happened.
    package let time: Timestamp

    /// Creates a key.
    package init(id: EventID, time: Timestamp) {
        self.id = id
        self.time = time
    }
}

/// The log in the quarantine's folder.
///
/// An event that a tracker refuses again has a new record in the folder, so every settled one counts as sent.
final class FolderSentRecordLog: SentRecordLog {
    private var records: SentRecords

    init(_ records: consuming SentRecords) {
        self.records = records
    }

    func store(_ sent: [SentRecord], areSettled: Bool) throws -> [SentRecord] {
        guard areSettled else { return sent }
        try records.add(sent.compactMap { if case .quarantined(let key) = $0.key { key } else { nil } })
        return []
    }
}
