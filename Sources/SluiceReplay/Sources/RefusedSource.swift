import EventSchema
import EventValidation
import TrackerKit

/// Reads the records that a loader refused, one per part, and checks their events again for the tracker that did not get them.
///
/// An event without an id gets one that is derived from its place in the topic, the same as a loader derives. An event that states
/// no time has that of its record, when the loader read it.
final class RefusedSource: ReplaySource {
    private let catalog: EventCatalog
    private let stop: Interrupt
    private var scan: RefusedScan
    /// The derived ids depend on the partition.
    private var validators: [LoadedPartition: EventValidator] = [:]
    /// The number of findings of the scan that `takeFailures` has returned.
    private var reportedFindings = 0

    init(_ scan: RefusedScan, catalog: EventCatalog, tracker: String, stop: Interrupt) {
        self.scan = scan
        self.catalog = catalog.restricted(to: tracker)
        self.stop = stop
    }

    var bytesRead: Int { scan.bytesRead }

    func takeFailures() -> [String] {
        defer { reportedFindings = scan.findings.count }
        return Array(scan.findings.dropFirst(reportedFindings))
    }

    func next() async throws -> ReplayPart? {
        guard !stop.isRaised else { return nil }
        let entry: RefusedScan.Entry?
        do throws(TrackerError) {
            entry = try await scan.next()
        } catch {
            // An interrupted query has failed.
            guard stop.isRaised || Task.isCancelled else { throw error }
            return nil
        }
        return try entry.map(part)
    }

    private func part(of entry: RefusedScan.Entry) throws -> ReplayPart {
        let validator = validator(for: entry.key.partition)
        validator.setNextLine(Int(clamping: entry.key.offset))
        return ReplayPart(
            checked: try Self.line(of: entry.value).withUnsafeBytes {
                try validator.check(lines: $0, arrival: entry.record.at)
            },
            isQuarantined: true,
            recordKey: .refused(entry.key)
        )
    }

    /// The value as one line that is never blank, so that it is either an event or rejected; a tombstone is `null`.
    private static func line(of value: [UInt8]?) -> [UInt8] {
        let whitespace = Array(" \t\r\n".utf8), byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = value.map { $0.starts(with: byteOrderMark) ? $0.dropFirst(byteOrderMark.count) : $0[...] } ?? []
        guard text.contains(where: { !whitespace.contains($0) }) else { return Array("null".utf8) }
        // Valid JSON has line breaks only between tokens, where a space means the same.
        return text.map { $0 == UInt8(ascii: "\n") ? UInt8(ascii: " ") : $0 }
    }

    private func validator(for partition: LoadedPartition) -> EventValidator {
        if let validator = validators[partition] { return validator }
        let validator = EventValidator(rereading: catalog, identity: .derived(source: partition.idSource))
        validators[partition] = validator
        return validator
    }
}
