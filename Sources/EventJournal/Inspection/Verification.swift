/// What is wrong in a journal, after every byte of it was read.
///
/// Takes no lock and changes nothing.
package struct Verification: Sendable {
    /// How many segments were read.
    package private(set) var segmentCount = 0
    /// How many good frames they have.
    package private(set) var frameCount = 0
    /// How many events those have.
    package private(set) var eventCount = 0
    /// How many bytes were read, the damaged ones too.
    package private(set) var byteCount = 0
    /// Bytes that are no frames.
    package private(set) var damages: [Damage] = []
    /// Numbers that no event has, though one must have had them.
    package private(set) var gaps: [RecoveryReport.Gap] = []
    /// Numbers that no event has, for which there is a reason: damage before them, which is told already or was cut out
    /// and kept, or a crash, after which numbers are left out.
    package private(set) var skips: [RecoveryReport.Gap] = []
    /// A commit at the end of the last segment that goes on now, or that a crash kept from being finished.
    package private(set) var unfinished: Damage?

    /// Whether there is no damage and no gap.
    package var isIntact: Bool { damages.isEmpty && gaps.isEmpty }

    /// Reads a whole journal.
    ///
    /// - Throws: Where a file cannot be read.
    package init(_ files: any FileSystem) throws(FileError) {
        let cuts = try files.names().filter { $0.hasSuffix(SegmentRepair.cutSuffix) }
        var walk = try JournalWalk(files)
        var isBehindDamage = false
        walking: while true {
            switch try walk.next() {
            case .frame(let header, _, let skipped):
                count(header)
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

    private mutating func count(_ header: FrameHeader) {
        frameCount += 1
        eventCount += header.count
        byteCount += header.frameBytes
    }
}
