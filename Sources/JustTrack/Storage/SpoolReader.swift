import EventPipeline
import Journal

/// Reads the events of a spool that nobody writes any more.
struct SpoolReader: ~Copyable {
    /// Events that were written together, or what stands in their place.
    struct Part {
        let batch: EventBatch?
        let damage: Damage?
        /// The number of the first event behind it.
        let nextSequence: UInt64
    }

    private var reader: JournalReader
    private let validator: EventValidator

    /// Begins with the event of this number.
    init(_ spool: Spool, from sequence: UInt64, catalog: EventCatalog) {
        reader = spool.journal.reader(from: sequence)
        validator = EventValidator(rereading: catalog)
    }

    /// The next events; `nil` after the last.
    mutating func next() throws(JournalError) -> Part? {
        let start = reader.nextSequence
        do throws(FileError) {
            switch try reader.next() {
            case .frame(let header, let lines):
                let skipped = start > header.firstSequence ? Int(clamping: start - header.firstSequence) : 0
                // A line that is no event any more cannot be passed on by anybody.
                let checked = try? validator.check(lines.droppingLines(skipped), as: .lines)
                return Part(batch: checked?.batch, damage: nil, nextSequence: header.nextSequence)
            case .damage(let damage):
                return Part(batch: nil, damage: damage, nextSequence: reader.nextSequence)
            case .caughtUp:
                return nil
            }
        } catch {
            throw JournalError(.unreadable, "The spool cannot be read: \(error).")
        }
    }
}
