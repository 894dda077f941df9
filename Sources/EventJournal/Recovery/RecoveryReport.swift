/// The findings of recovery when a journal was opened.
package struct RecoveryReport: Sendable, Hashable {
    /// Bytes at the end of a segment that are not a frame: a commit that a crash interrupted, whose events were never
    /// acknowledged.
    package struct Cut: Sendable, Hashable, CustomStringConvertible {
        /// The bytes.
        package let damage: Damage
        /// The name of the file to which they were moved.
        package let keptIn: String

        /// For example `…: 96 bytes are no frame (the file ends in it); moved to 00000000000000000000.segment.312.cut`.
        package var description: String { "\(damage); moved to \(keptIn)" }
    }

    /// Sequence numbers that are missing from the segments.
    package struct Gap: Sendable, Hashable, CustomStringConvertible {
        /// The first missing number.
        package let from: UInt64
        /// The first number after the gap.
        package let to: UInt64
        /// The segment after the gap.
        package let before: String

        /// For example `events 100 to 199 are missing before 00000000000000000200.segment`.
        package var description: String { "events \(from) to \(to &- 1) are missing before \(before)" }
    }

    /// Bytes that were cut off.
    package internal(set) var cuts: [Cut] = []
    /// Damage that was left in place.
    package internal(set) var damages: [Damage] = []
    /// Missing sequence numbers.
    package internal(set) var gaps: [Gap] = []

    /// Whether the identity file was unreadable, so that the journal has a new identity.
    package private(set) var lostIdentity = false

    /// Whether there is no damage and no gap; an interrupted commit does not count.
    package var isIntact: Bool { damages.isEmpty && gaps.isEmpty }

    /// One sentence for each finding.
    package var sentences: [String] {
        cuts.map(\.description) + damages.map(\.description) + gaps.map(\.description)
            + (lostIdentity ? ["\(IdentityFile.name) could not be read; the journal has a new identity"] : [])
    }

    func noting(lostIdentity: Bool) -> RecoveryReport {
        var report = self
        report.lostIdentity = lostIdentity
        return report
    }
}
