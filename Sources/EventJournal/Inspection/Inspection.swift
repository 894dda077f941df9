package import EventModel

/// What a journal's folder holds, as far as it can be said without reading the events.
///
/// Takes no lock and changes nothing. Only segments that were not ended are read, which is the last one as a rule.
package struct Inspection: Sendable {
    /// A segment as it is found.
    package struct FoundSegment: Sendable, Hashable {
        /// What it holds.
        package let segment: Segment
        /// Whether it was ended, so that nothing more is appended to it.
        package let isEnded: Bool
        /// How many of its bytes are no frames, as far as it was read: where it is open, a commit that goes on now or
        /// that a crash kept from being finished.
        package let strayBytes: Int
    }

    /// How far a tracker has got.
    package struct FoundCursor: Sendable, Hashable {
        /// The tracker's name in lower case.
        package let tracker: String
        /// The number of the first event that it still needs; `nil` where it never got any.
        package let sequence: UInt64?
    }

    /// Bytes that recovery or a repair cut out of a segment.
    package struct CutFile: Sendable, Hashable {
        /// The file that has them now.
        package let name: String
        /// How many they are.
        package let byteCount: Int
    }

    /// Segments retire one now and then, so that a second look is enough.
    private static let maximumTries = 100

    /// Which journal it is; `nil` where it was not opened since journals have identities.
    package let id: JournalID?
    /// The segments, in order.
    package private(set) var segments: [FoundSegment] = []
    /// The cursors, by their trackers' names.
    package private(set) var cursors: [FoundCursor] = []
    /// What was cut out, by the files' names.
    package private(set) var cuts: [CutFile] = []

    /// Looks at a journal's files.
    ///
    /// - Throws: Where one of them cannot be read. A file that is removed meanwhile is left out.
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
        for name in names where name.hasSuffix(SegmentRepair.cutSuffix) {
            let size = try Self.unlessMissing { () throws(FileError) in try files.open(name, creates: false).size() }
            if let size { cuts.append(CutFile(name: name, byteCount: size)) }
        }
    }

    /// How many bytes all segments have.
    package var byteCount: Int { segments.reduce(0) { $0 + $1.segment.byteCount } }
    /// The number of the oldest event that is still there.
    package var firstSequence: UInt64 { segments.first?.segment.name.firstSequence ?? 0 }
    /// The number that the next event gets.
    package var nextSequence: UInt64 { segments.last?.segment.nextSequence ?? 0 }

    /// How many events a tracker is behind; of one that never got any, all there are.
    package func lag(of cursor: FoundCursor) -> UInt64 {
        let needed = cursor.sequence ?? firstSequence
        return nextSequence > needed ? nextSequence - needed : 0
    }

    /// Looks at all segments; where one is removed meanwhile, again, so that those found follow each other.
    private static func segments(_ files: any FileSystem) throws(FileError) -> [FoundSegment] {
        var tries = 0
        while true {
            tries += 1
            do throws(FileError) {
                var found: [FoundSegment] = []
                for name in try files.names().compactMap({ SegmentName($0) }).sorted() {
                    found.append(try look(at: name, files))
                }
                return found
            } catch {
                guard error.isMissing, tries < maximumTries else { throw error }
            }
        }
    }

    private static func look(at name: SegmentName, _ files: any FileSystem) throws(FileError) -> FoundSegment {
        let file = try files.open(name.text, creates: false)
        if let ended = try Segment.ended(name, file)?.segment {
            return FoundSegment(segment: ended, isEnded: true, strayBytes: 0)
        }
        let scan = try SegmentScan(name, file)
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
