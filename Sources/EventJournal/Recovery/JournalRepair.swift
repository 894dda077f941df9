/// Removes damaged bytes from a journal's segments, and keeps them in files beside the segments.
///
/// The caller must hold the journal's lock. Events keep their sequence numbers, so cursors stay valid. After a crash each segment
/// is either unchanged or repaired. Missing events cannot be repaired, and an interrupted commit at the end of the last segment
/// is left to the next opening of the journal, which cuts it off.
package struct JournalRepair: Sendable {
    /// The bytes that were removed, with their original places.
    package private(set) var cuts: [RecoveryReport.Cut] = []
    /// Damage that was left, because a newer version of the program may be able to read it.
    package private(set) var left: [Damage] = []

    /// Repairs each segment that needs it; `now` is in microseconds since 1970.
    ///
    /// - Throws: If a file cannot be read or written; the segments before it stay repaired.
    package init(_ files: any FileSystem, now: Int64) throws(FileError) {
        let names = try files.segmentNames()
        for (position, name) in names.enumerated() {
            let file = try files.open(name.text, creates: false)
            let following = position + 1 < names.count ? names[position + 1] : nil
            let scan = try SegmentScan(name, file, isLast: following == nil)
            var damages = scan.damages
            if following == nil, scan.tail != nil { damages.removeLast() }
            left += damages.filter { !Self.isRepairable($0) }
            damages.removeAll { !Self.isRepairable($0) }
            guard !damages.isEmpty else { continue }
            let repair = SegmentRepair(files: files, file: file, scan: scan, following: following)
            cuts += try repair.cut(damages, now: now)
        }
    }

    /// Whether a repair removes this damage.
    package static func isRepairable(_ damage: Damage) -> Bool {
        if case .header(.newerFormat) = damage.flaw { return false }
        return true
    }
}

/// Rewrites one segment without its damaged bytes.
private struct SegmentRepair {
    private static let suffix = ".repair"

    let files: any FileSystem
    let file: any JournalFile
    let scan: SegmentScan
    /// The segment after it.
    let following: SegmentName?

    private var name: String { scan.segment.name.text }

    /// Keeps the damaged bytes, then replaces the segment by a file without them.
    func cut(_ damages: [Damage], now: Int64) throws(FileError) -> [RecoveryReport.Cut] {
        var cuts: [RecoveryReport.Cut] = []
        for damage in damages {
            cuts.append(.init(damage: damage, keptIn: try CutFile.keep(damage, of: file, in: files)))
        }
        // From here on a crash loses nothing, because the removed bytes are safe.
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

    private func writeAnew(without damages: [Damage], now: Int64) throws(FileError) {
        let copy = try files.open(name + Self.suffix, creates: true)
        // An unfinished one may exist.
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

    /// Ends the segment if its end was damaged, so that an opening need not read it completely.
    private func end(
        _ copy: any JournalFile,
        at size: Int,
        without damages: [Damage],
        now: Int64
    ) throws(FileError) {
        guard let following, let tail = damages.last, tail == scan.tail, !scan.isEnded else { return }
        var segment = scan.segment
        segment.byteCount = size
        // Fewer events than bytes were lost; numbers missing beyond that remain a gap.
        let lost = min(following.firstSequence, segment.nextSequence &+ UInt64(tail.byteCount))
        segment.nextSequence = max(segment.nextSequence, lost)
        _ = try SegmentWriter.writeEnd(of: segment, to: copy, isSynced: scan.last?.isSynced ?? false, now: now)
    }
}
