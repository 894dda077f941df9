import Journal

/// What a quarantine's two journals may take together.
///
/// Any sender can cause verdicts, in any number; so they may fill three quarters only, because a tracker whose refusals
/// find no room stands still.
struct QuarantineRoom: Sendable {
    let verdicts: Journal
    let refusals: Journal
    let capacityInBytes: Int

    /// - Throws: `full` where a verdict has no room.
    func checkVerdicts(_ lines: QuarantineLines) throws(JournalError) {
        let limit = capacityInBytes / 4 * 3
        try check(lines, limit, "The quarantine has \(used) bytes, and may have \(limit) of what senders cause")
    }

    /// - Throws: `full` where what a tracker refused has no room.
    func checkRefusals(_ lines: QuarantineLines) throws(JournalError) {
        try check(lines, capacityInBytes, "The quarantine has \(used) bytes, and may have \(capacityInBytes)")
    }

    private var used: Int { verdicts.position.byteCount + refusals.position.byteCount }

    private func check(
        _ lines: QuarantineLines,
        _ limit: Int,
        _ finding: @autoclosure () -> String
    ) throws(JournalError) {
        guard FrameHeader.byteCount + lines.bytes.count > limit - used else { return }
        let wayOut = "export it and remove its folder while nothing runs, or raise quarantine.capacityInBytes"
        throw JournalError(.full, "\(finding()); \(wayOut).")
    }
}
