import EventJournal
package import EventModel
import EventValidation

extension EventBatch: JournalEntry {
    /// The plan that the events were checked against.
    package var planDigest: PlanDigest? { catalog.planDigest }

    /// From the earliest time of its events to the latest, in microseconds since 1970.
    package var times: ClosedRange<Int64> {
        var (earliest, latest) = (Int64.max, Int64.min)
        for entry in entries {
            earliest = min(earliest, entry.time.microseconds)
            latest = max(latest, entry.time.microseconds)
        }
        return earliest <= latest ? earliest...latest : 0...0
    }
}
