import EventJournal
import EventModel
import EventQuarantine
import EventSchema
import EventValidation
import Foundation
import TrackerKit

/// Checks the records of a quarantine again, one at a time, as a replay sends them on.
///
/// One that a tracker refused, or that was parked, is meant for that tracker alone. An event without an id gets one that follows from its
/// place in the quarantine, the same each time.
final class QuarantineSource {
    /// What names the configured quarantine among the paths of a replay.
    static let name = "quarantine"

    /// One record, checked.
    struct Checked {
        let record: QuarantineRecord
        let body: CheckedBody
    }

    private let catalog: EventCatalog
    private let sent: Set<String>
    private let stop: Interrupt
    private var scan: QuarantineScan
    private var validators: [String: EventValidator] = [:]

    /// Opens the quarantine in a folder.
    ///
    /// - Throws: `JournalError` where it cannot be read.
    init(
        folder: String,
        filter: QuarantineFilter,
        catalog: EventCatalog,
        stop: Interrupt
    ) throws(JournalError) {
        self.catalog = catalog
        self.stop = stop
        var filter = filter
        // What is rejected or refused in the course of it is for another time.
        let now = Timestamp.now()
        filter.until = min(filter.until ?? now, now)
        scan = try QuarantineScan(QuarantineFolder(path: folder), filter)
        sent = try SentRecords(ofQuarantine: folder, changes: false).ids
    }

    var bytesRead: Int { scan.bytesRead }
    var findings: [String] { scan.findings }

    /// The next record that was not sent on yet; `nil` after the last.
    func next() throws -> Checked? {
        while !stop.isRaised, let record = try scan.next() {
            if sent.contains(record.key) { continue }
            let validator = validator(for: record)
            validator.setNextLine(Int(clamping: record.sequence))
            // On one line: a line break in JSON stands between tokens, and elsewhere makes it none anyway.
            let line = record.original.map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: " ") : $0 }
            return Checked(record: record, body: try line.withUnsafeBytes { try validator.check($0, as: .lines) })
        }
        return nil
    }

    /// One for each part, whose identity goes into the ids, and for each tracker that refused something.
    private func validator(for record: QuarantineRecord) -> EventValidator {
        let kind = record.tracker.map { "tracker:\($0)" } ?? record.partID
        if let validator = validators[kind] { return validator }
        let validator: EventValidator
        if let tracker = record.tracker {
            // A canonical line may be longer than the event was when it was sent.
            validator = EventValidator(rereading: catalog.restricted(to: tracker))
        } else {
            let identity = EventIdentity.derived(source: "quarantine:\(record.partID)")
            validator = EventValidator(catalog: catalog, identity: identity, acceptsReceivedAt: true)
        }
        validators[kind] = validator
        return validator
    }
}

extension EventCatalog {
    /// The same plan, with all events going to one tracker.
    fileprivate func restricted(to tracker: String) -> EventCatalog {
        var plan = plan
        for index in plan.events.indices { plan.events[index].trackers = [tracker] }
        return EventCatalog(plan: plan)
    }
}
