/// Cuts what is damaged out of a journal's segments, and keeps it beside them.
///
/// The journal must be held. Events keep their numbers, so that cursors stay right. A crash in the middle leaves each
/// segment as it was or repaired. What is missing cannot be repaired, and the end of the last segment is left to the next
/// opening of the journal, which cuts off what is unfinished there.
package struct JournalRepair: Sendable {
    /// What was cut out, with the places at which it stood.
    package private(set) var cuts: [RecoveryReport.Cut] = []
    /// What was left: frames of a newer format may be good ones to a newer program.
    package private(set) var left: [Damage] = []

    /// Repairs each segment that needs it; `now` is in microseconds since 1970.
    ///
    /// - Throws: Where a file cannot be read or written; the segments before it stay repaired.
    package init(_ files: any FileSystem, now: Int64) throws(FileError) {
        let names = try files.names().compactMap { SegmentName($0) }.sorted()
        for (position, name) in names.enumerated() {
            let file = try files.open(name.text, creates: false)
            let scan = try SegmentScan(name, file)
            let following = position + 1 < names.count ? names[position + 1] : nil
            var damages = scan.damages
            if following == nil, scan.tail != nil { damages.removeLast() }
            left += damages.filter { !Self.isRepairable($0) }
            damages.removeAll { !Self.isRepairable($0) }
            guard !damages.isEmpty else { continue }
            let repair = SegmentRepair(files: files, file: file, scan: scan, following: following)
            cuts += try repair.cut(damages, now: now)
        }
    }

    /// Whether a damage is one that a repair cuts out.
    package static func isRepairable(_ damage: Damage) -> Bool {
        if case .header(.newerFormat) = damage.flaw { return false }
        return true
    }
}
