package import EventModel

/// An overview of a journal's folder, made without reading the events.
///
/// Takes no lock and changes nothing. Only segments without an end frame are read, which is usually the last one.
package struct Inspection: Sendable {
    /// A segment in the folder.
    package struct FoundSegment: Sendable, Hashable {
        /// Its metadata.
        package let segment: Segment
        /// Whether it has an end frame, so that nothing more is appended.
        package let isEnded: Bool
        /// The number of its bytes that are not valid frames: in an open segment, a commit that is in progress or was
        /// interrupted by a crash.
        package let strayBytes: Int
    }

    /// A tracker's cursor.
    package struct FoundCursor: Sendable, Hashable {
        /// The tracker's name in lower case.
        package let tracker: String
        /// The sequence number of the first event that it still needs; `nil` if it never had any.
        package let sequence: UInt64?
    }

    /// Segments are removed rarely, so one retry is usually enough.
    private static let maximumTries = 100

    /// The journal's identity; `nil` if it was not opened since journals have identities.
    package let id: JournalID?
    /// The segments, in order.
    package private(set) var segments: [FoundSegment] = []
    /// The cursors, by their trackers' names.
    package private(set) var cursors: [FoundCursor] = []
    /// The files with removed bytes, by name.
    package private(set) var cuts: [CutFile] = []

    /// Inspects a journal's files.
    ///
    /// - Throws: If a file cannot be read. A file that is removed meanwhile is left out.
    package init(_ files: any FileSystem) throws(FileError) {
        id = try Self.unlessMissing { () throws(FileError) in try IdentityFile.read(files) } ?? nil
        let names = try files.names().sorted()
        // Before the segments, so that no cursor is ahead of what is found in them.
        for name in names {
            guard let tracker = CursorFile.tracker(ofName: name) else { continue }
            let cursor = try Self.unlessMissing { () throws(FileError) in try CursorFile(files, existing: name) }
            if let cursor { cursors.append(FoundCursor(tracker: tracker, sequence: cursor.sequence)) }
        }
        segments = try Self.segments(files)
        for name in names where CutFile.isCut(name) {
            let size = try Self.unlessMissing { () throws(FileError) in try files.open(name, creates: false).size() }
            if let size { cuts.append(CutFile(name: name, byteCount: size)) }
        }
    }

    /// The size of all segments, in bytes.
    package var byteCount: Int { segments.reduce(0) { $0 + $1.segment.byteCount } }
    /// The sequence number of the oldest event.
    package var firstSequence: UInt64 { segments.first?.segment.name.firstSequence ?? 0 }
    /// The sequence number of the next event.
    package var nextSequence: UInt64 { segments.last?.segment.nextSequence ?? 0 }

    /// The number of events that a tracker is behind; all events if it never had any.
    package func lag(of cursor: FoundCursor) -> UInt64 {
        let needed = cursor.sequence ?? firstSequence
        return nextSequence > needed ? nextSequence - needed : 0
    }

    /// Inspects all segments, and starts again if one is removed meanwhile, so that those found are contiguous.
    private static func segments(_ files: any FileSystem) throws(FileError) -> [FoundSegment] {
        var tries = 0
        while true {
            tries += 1
            do throws(FileError) {
                var found: [FoundSegment] = []
                let names = try files.segmentNames()
                for name in names {
                    found.append(try look(at: name, isLast: name == names.last, files))
                }
                return found
            } catch {
                guard error.isMissing, tries < maximumTries else { throw error }
            }
        }
    }

    private static func look(
        at name: SegmentName,
        isLast: Bool,
        _ files: any FileSystem
    ) throws(FileError) -> FoundSegment {
        let file = try files.open(name.text, creates: false)
        if let ended = try Segment.ended(name, file)?.segment {
            return FoundSegment(segment: ended, isEnded: true, strayBytes: 0)
        }
        let scan = try SegmentScan(name, file, isLast: isLast)
        let stray = scan.damages.reduce(0) { $0 + $1.byteCount }
        return FoundSegment(segment: scan.segment, isEnded: false, strayBytes: stray)
    }

    private static func unlessMissing<Value>(_ read: () throws(FileError) -> Value) throws(FileError) -> Value? {
        do throws(FileError) {
            return try read()
        } catch {
            guard error.isMissing else { throw error }
            return nil
        }
    }
}
