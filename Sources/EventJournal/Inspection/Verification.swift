/// The result of reading and verifying every byte of a journal.
///
/// Takes no lock and changes nothing.
package struct Verification: Sendable {
    /// The number of segments.
    package private(set) var segmentCount = 0
    /// The number of valid frames.
    package private(set) var frameCount = 0
    /// The number of events in valid frames.
    package private(set) var eventCount = 0
    /// The number of bytes read, including damaged ones.
    package private(set) var byteCount = 0
    /// Bytes that are not valid frames.
    package private(set) var damages: [Damage] = []
    /// Sequence numbers whose events are lost.
    package private(set) var gaps: [RecoveryReport.Gap] = []
    /// Sequence numbers that are missing for a known reason: damage that is reported or was removed by a repair, or a crash,
    /// after which numbers are skipped.
    package private(set) var skips: [RecoveryReport.Gap] = []
    /// A commit at the end of the last segment that is in progress or was interrupted by a crash.
    package private(set) var unfinished: Damage?

    /// Segments whose events do not have the numbers that their places give them.
    package private(set) var misplaced: [MisplacedSegment] = []

    /// The number after the greatest one so far.
    private var expected: UInt64?
    /// The segment whose first frame was read last.
    private var begun: SegmentName?

    /// Whether there is no damage, no gap and no misplaced segment.
    package var isIntact: Bool { damages.isEmpty && gaps.isEmpty && misplaced.isEmpty }

    /// Reads a whole journal.
    ///
    /// - Throws: If a file cannot be read.
    package init(_ files: any FileSystem) throws(FileError) {
        let cuts = try files.names().filter(CutFile.isCut)
        var walk = try JournalWalk(files)
        var isBehindDamage = false
        walking: while true {
            switch try walk.next() {
            case .frame(let header, _, let skipped):
                count(header)
                if let segment = walk.segment {
                    judge(header, in: segment, isAfterLoss: isBehindDamage || Self.hasCuts(segment, among: cuts))
                }
                if let skipped {
                    let isReported = isBehindDamage || header.kind == .end
                    let isExplained = isReported || Self.hasCuts(walk.segment, among: cuts)
                    isExplained ? skips.append(skipped) : gaps.append(skipped)
                }
                isBehindDamage = false
            case .damage(let damage):
                damages.append(damage)
                byteCount += damage.byteCount
                isBehindDamage = true
            case .unfinished(let damage):
                unfinished = damage
                byteCount += damage.byteCount
            case .gap(let gap):
                gaps.append(gap)
                isBehindDamage = false
            case .retired, .passed:
                isBehindDamage = false
            case .end:
                break walking
            }
        }
        segmentCount = walk.segmentCount
    }

    private static func hasCuts(_ segment: SegmentName?, among names: [String]) -> Bool {
        guard let segment else { return false }
        return names.contains { $0.hasPrefix(segment.text + ".") }
    }

    /// Notes the frame's segment if the frame is not at its place; `isAfterLoss` if frames before it may be missing.
    private mutating func judge(_ header: FrameHeader, in segment: SegmentName, isAfterLoss: Bool) {
        let isFirst = begun != segment
        begun = segment
        defer { expected = max(expected ?? 0, header.nextSequence) }
        guard misplaced.last?.segment != segment else { return }
        if let expected, header.firstSequence < expected {
            misplaced.append(MisplacedSegment(segment: segment, reason: .repetition(header.firstSequence)))
        } else if isFirst, header.kind == .events, !isAfterLoss, header.firstSequence != segment.firstSequence {
            misplaced.append(MisplacedSegment(segment: segment, reason: .name(header.firstSequence)))
        }
    }

    private mutating func count(_ header: FrameHeader) {
        frameCount += 1
        eventCount += header.count
        byteCount += header.frameBytes
    }
}
