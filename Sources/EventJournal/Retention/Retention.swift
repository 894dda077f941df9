extension Journal {
    /// The oldest segments that exceed the retention age or size; never the last segment.
    ///
    /// `now` is the time of the journal's opening plus the time that a monotonic clock has measured since.
    package func expiredSegments(now: Int64) -> [Segment] {
        let position = position
        // Retention must leave room for the next segment.
        let limit = min(configuration.retentionBytes, configuration.maximumBytes - configuration.segmentBytes)
        var bytes = position.byteCount
        return position.segments.dropLast().prefix { segment in
            defer { bytes -= segment.byteCount }
            return bytes > limit || ages.age(of: segment, now: now) >= configuration.retentionAge
        }
    }

    /// Removes expired segments, the oldest first, as long as all their events come before `sequence`.
    ///
    /// The last segment is never removed. With `makesRoom`, segments are removed before they expire. Returns the removed segments;
    /// `now` is as for `expiredSegments`.
    package func retire(
        before sequence: UInt64,
        now: Int64,
        makesRoom: Bool = false
    ) throws(JournalError) -> [Segment] {
        var retired: [Segment] = []
        for segment in makesRoom ? position.segments.dropLast() : expiredSegments(now: now) {
            guard segment.nextSequence <= sequence else { break }
            do throws(FileError) {
                try remove(segment)
                retired.append(segment)
                // In order: a segment that reappeared after a crash without its successors would leave a gap.
                try files.syncFolder()
            } catch {
                throw JournalError(.unwritable, error)
            }
        }
        // A process that runs for years opens the journal once. What cannot be removed stays until the next time.
        if !retired.isEmpty { try? CutFile.removeOld(in: files, now: now) }
        return retired
    }

    /// Removes the oldest segments whose last commit is at least as old as `age`, whoever needs their events; never the last
    /// segment.
    ///
    /// Returns the removed segments; `now` is as for `expiredSegments`.
    package func retire(olderThan age: Duration, now: Int64) throws(JournalError) -> [Segment] {
        var retired: [Segment] = []
        for segment in position.segments.dropLast() {
            guard ages.age(of: segment, now: now) >= age else { break }
            do throws(FileError) {
                try remove(segment)
                retired.append(segment)
                try files.syncFolder()
            } catch {
                throw JournalError(.unwritable, error)
            }
        }
        return retired
    }

    private func remove(_ segment: Segment) throws(FileError) {
        do throws(FileError) {
            try files.remove(segment.name.text)
        } catch {
            guard error.isMissing else { throw error }
        }
        removed(segment)
    }
}
