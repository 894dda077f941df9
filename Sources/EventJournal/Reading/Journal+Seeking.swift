extension Journal {
    /// The number of the first event of the first commit that holds an event of a time, in microseconds since 1970, or a
    /// later one; that of the next event where none does.
    ///
    /// Reads the headers of one segment at most, as a rule, and the lines of one frame. What is damaged is passed over.
    package func sequence(ofEventsFrom time: Int64) throws(JournalError) -> UInt64 {
        let position = position
        let selection = FrameSelection(times: time ... .max)
        do throws(FileError) {
            for segment in position.segments where selection.wants(segment) {
                let file = try files.open(segment.name.text, creates: false)
                var frames = FrameReader(
                    file,
                    name: segment.name.text,
                    to: segment.byteCount,
                    selecting: selection
                )
                if let found = try Self.firstEvents(in: &frames) { return found.firstSequence }
            }
        } catch {
            throw JournalError(.unreadable, error)
        }
        return position.nextSequence
    }

    private static func firstEvents(in frames: inout FrameReader) throws(FileError) -> FrameHeader? {
        while true {
            switch try frames.next() {
            case .frame(let header, _) where header.kind == .events: return header
            case .frame, .passed, .damage: continue
            case .end: return nil
            }
        }
    }
}
