extension Journal {
    /// The oldest segments that are past their time, or beyond what may be kept; never the last.
    ///
    /// `now` is the time of the journal's opening and what a monotonic clock has counted since.
    package func expiredSegments(now: Int64) -> [Segment] {
        let position = position
        // A full journal must have room for the next segment.
        let limit = min(configuration.retentionBytes, configuration.maximumBytes - configuration.segmentBytes)
        var bytes = position.byteCount
        return position.segments.dropLast().prefix { segment in
            defer { bytes -= segment.byteCount }
            return bytes > limit || ages.age(of: segment, now: now) >= configuration.retentionAge
        }
    }

    /// Removes the oldest segments that nobody needs, past their time or beyond what may be kept, one after the other.
    ///
    /// Only events before `sequence` are removed, and the last segment stays. With `makesRoom` segments are removed before
    /// their time, too. Returns those that were removed; `now` is as for `expiredSegments`.
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
                // In their order, for one that came back after a crash without those behind it would leave a gap.
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
