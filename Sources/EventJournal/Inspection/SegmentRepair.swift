/// Writes one segment anew without its damaged bytes.
struct SegmentRepair {
    /// How the names of files end that hold what was cut out of a segment.
    static let cutSuffix = ".cut"
    private static let suffix = ".repair"

    let files: any FileSystem
    let file: any JournalFile
    let scan: SegmentScan
    /// The segment behind it.
    let following: SegmentName?

    private var name: String { scan.segment.name.text }

    /// Keeps the damaged bytes, then puts a file without them in the segment's place.
    func cut(_ damages: [Damage], now: Int64) throws(FileError) -> [RecoveryReport.Cut] {
        var cuts: [RecoveryReport.Cut] = []
        for damage in damages { cuts.append(.init(damage: damage, keptIn: try keep(damage))) }
        // From here on nothing is lost by a crash: what is removed is safe.
        try files.syncFolder()
        do throws(FileError) {
            try writeAnew(without: damages, now: now)
            try files.rename(name + Self.suffix, to: name)
        } catch {
            try? files.remove(name + Self.suffix)
            throw error
        }
        try files.syncFolder()
        return cuts
    }

    /// Copies damaged bytes to a file that was not there, for bytes may have been cut out at this place before.
    private func keep(_ damage: Damage) throws(FileError) -> String {
        let names = Set(try files.names())
        var kept = "\(damage.segment).\(damage.offset)\(Self.cutSuffix)"
        var count = 1
        while names.contains(kept) {
            count += 1
            kept = "\(damage.segment).\(damage.offset).\(count)\(Self.cutSuffix)"
        }
        let copy = try files.open(kept, creates: true)
        do throws(FileError) {
            try file.copy(damage.range, to: copy, at: 0)
            try copy.sync()
            return kept
        } catch {
            try? files.remove(kept)
            throw error
        }
    }

    private func writeAnew(without damages: [Damage], now: Int64) throws(FileError) {
        let copy = try files.open(name + Self.suffix, creates: true)
        // One that was not finished may be there.
        try copy.truncate(to: 0)
        var size = 0
        var position = 0
        for end in damages.map(\.range) + [scan.segment.byteCount..<scan.segment.byteCount] {
            try file.copy(position..<end.lowerBound, to: copy, at: size)
            size += end.lowerBound - position
            position = end.upperBound
        }
        try end(copy, at: size, without: damages, now: now)
        try copy.sync()
    }

    /// Ends the segment where the damage was its end, so that it need not be read whole at each opening.
    private func end(
        _ copy: any JournalFile,
        at size: Int,
        without damages: [Damage],
        now: Int64
    ) throws(FileError) {
        guard let following, let tail = damages.last, tail == scan.tail, !scan.isEnded else { return }
        var segment = scan.segment
        segment.byteCount = size
        // However many events were lost, they were fewer than bytes; what is missing beyond them stays a gap.
        let lost = min(following.firstSequence, segment.nextSequence &+ UInt64(tail.byteCount))
        segment.nextSequence = max(segment.nextSequence, lost)
        _ = try SegmentWriter.writeEnd(of: segment, to: copy, isSynced: scan.last?.isSynced ?? false, now: now)
    }
}
