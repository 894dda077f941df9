public import EventJournal

extension Pipeline {
    /// When it makes sense to send again what the journal did not take: from 1 second up to 5 minutes.
    ///
    /// Where the journal is full that is when its oldest segment can go, judged by how fast the hindmost tracker got on in
    /// the last ten seconds; 30 seconds where no tracker gets on. A disk that does not write is tried each second.
    public func retryAfter(_ error: JournalError) -> Duration {
        guard error.code == .full, let journaling else { return .seconds(5) }
        let oldest = journaling.journal.position.segments.first?.nextSequence ?? 0
        let wait = decide { state, _ in state.drain.wait(until: oldest) } ?? .seconds(30)
        return min(max(wait, .seconds(1)), .seconds(300))
    }
}
