import EventJournal

/// Removes records that are too old from a journal of a quarantine.
struct QuarantineRetention: Sendable {
    /// A segment takes records for at most a day, so that records are not kept much longer because of later ones.
    private static let segmentAge = Duration.seconds(86_400)

    /// How long records are kept.
    let age: Duration

    /// Removes the segments whose last record is too old; returns the number of their events.
    ///
    /// `now` is the time of the journal's opening plus the time that a monotonic clock has measured since, so a clock that is
    /// wrong at the opening removes nothing for an hour.
    func apply(to journal: Journal, _ writer: inout JournalWriter, now: Int64) throws(JournalError) -> Int {
        try writer.renewSegment(after: min(age, Self.segmentAge), now: now)
        let retired = try journal.retire(olderThan: age, now: now)
        return retired.reduce(0) { $0 + Int(clamping: $1.nextSequence - $1.name.firstSequence) }
    }
}
