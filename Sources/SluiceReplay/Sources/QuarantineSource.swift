package import EventJournal
import EventModel
import EventQuarantine
import EventSchema
import EventValidation

/// Reads the records of the configured quarantine, one per part, and validates their events again.
///
/// An event that was accepted and could not be delivered to one tracker goes to that tracker only, if the plan sends it there. An
/// event that states no time has that of its record, which is when it arrived. An event without an id gets one that is derived from
/// its place in the quarantine, the same each time. Events that the sender's key did not allow are read only if the selection names
/// their code.
package final class QuarantineSource: ReplaySource {
    private let catalog: EventCatalog
    private let sent: Set<String>
    /// The codes with which events are not read: they would pass the check, which knows no keys and no limits on times.
    private let skippedCodes: Set<String>
    private let isStopped: () -> Bool
    private var scan: QuarantineScan
    private var validators: [String: EventValidator] = [:]
    /// The number of findings of the scan that `takeFailures` has returned.
    private var reportedFindings = 0

    /// Opens the quarantine.
    ///
    /// While `isStopped` returns true, `next` returns `nil`; afterwards it continues.
    ///
    /// - Throws: `JournalError` if it cannot be read.
    package init(
        _ selection: ReplaySelection,
        folder: String,
        isStopped: @escaping () -> Bool
    ) throws(JournalError) {
        catalog = selection.catalog
        self.isStopped = isStopped
        var filter = selection.quarantineFilter
        // Events that this replay adds to the quarantine are left to the next one.
        let now = Timestamp.now()
        filter.until = min(filter.until ?? now, now)
        skippedCodes = Set([.forbiddenEvent, .timeOutOfRange].map(\VerdictCode.rawValue)).subtracting(filter.codes)
        scan = try QuarantineScan(QuarantineFolder(path: folder), filter)
        sent = try SentRecords(ofQuarantine: folder, changes: false).keys
    }

    /// The number of bytes of records read so far.
    package var bytesRead: Int { scan.bytesRead }

    /// A sentence for each damaged part since the last call.
    package func takeFailures() -> [String] {
        defer { reportedFindings = scan.findings.count }
        return Array(scan.findings.dropFirst(reportedFindings))
    }

    /// The next record that no replay has sent yet.
    package func next() throws -> ReplayPart? {
        while let record = try scan.next(isStopped: isStopped) {
            if sent.contains(record.key) { continue }
            if !skippedCodes.isDisjoint(with: record.codes) { continue }
            let validator = validator(for: record)
            validator.setNextLine(Int(clamping: record.sequence))
            // As one line: valid JSON has line breaks only between tokens, where a space means the same.
            let line = record.original.map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: " ") : $0 }
            return ReplayPart(
                checked: try line.withUnsafeBytes { try validator.check(lines: $0, arrival: record.at) },
                isQuarantined: true,
                recordKey: .quarantined(record.key)
            )
        }
        return nil
    }

    /// Returns one validator per part, whose identity is a part of derived ids, and one per tracker with undelivered events.
    private func validator(for record: QuarantineRecord) -> EventValidator {
        let kind = record.tracker.map { "tracker:\($0)" } ?? record.partID
        if let validator = validators[kind] { return validator }
        let validator: EventValidator
        if let tracker = record.tracker {
            // The canonical line of an accepted event may exceed the limit for events that are sent.
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
    /// The same plan, which sends events to one of its trackers only.
    func restricted(to tracker: String) -> EventCatalog {
        var plan = plan
        for index in plan.events.indices {
            plan.events[index].trackers.removeAll { $0.lowercased() != tracker.lowercased() }
        }
        return replacingPlan(with: plan)
    }
}
