import EventJournal
import EventValidation

/// Reads the events of a spool that is no longer written.
struct SpoolReader: ~Copyable {
    /// The events of one commit, or damage in its place.
    struct Part {
        let batch: EventBatch?
        /// A sentence about the damage; `nil` if there is none.
        let finding: String?
        /// The number of the first event after this part.
        let nextSequence: UInt64
    }

    private var reader: JournalReader
    private let validator: EventValidator

    /// Begins with the event that has this number.
    init(_ spool: Spool, from sequence: UInt64, catalog: EventCatalog) {
        reader = spool.journal.reader(from: sequence)
        validator = EventValidator(rereading: catalog)
    }

    /// The next events; `nil` after the last.
    mutating func next() throws(JournalError) -> Part? {
        let start = reader.nextSequence
        switch try step() {
        case .frame(let header, let lines):
            let skipped = start > header.firstSequence ? Int(clamping: start - header.firstSequence) : 0
            return try part(of: lines.droppingLines(skipped), nextSequence: header.nextSequence)
        case .damage(let damage):
            return Part(batch: nil, finding: "\(damage)", nextSequence: reader.nextSequence)
        case .caughtUp:
            return nil
        }
    }

    private mutating func step() throws(JournalError) -> JournalReader.Step {
        do throws(FileError) {
            return try reader.next()
        } catch {
            throw JournalError(.unreadable, "The spool cannot be read: \(error).")
        }
    }

    private func part(of lines: UnsafeRawBufferPointer, nextSequence: UInt64) throws(JournalError) -> Part {
        do {
            let checked = try validator.check(lines: lines)
            let rejected = checked.rejections.count
            let finding = rejected > 0 ? "\(rejected) lines are no events, and are lost" : nil
            return Part(batch: checked.batch, finding: finding, nextSequence: nextSequence)
        } catch {
            throw JournalError(.unreadable, "The events cannot be checked: \(error)")
        }
    }
}
