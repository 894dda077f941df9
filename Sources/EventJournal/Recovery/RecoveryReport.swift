/// What a journal found when it was opened, beside what was to be expected.
package struct RecoveryReport: Sendable, Hashable {
    /// Bytes at the end of a segment that are no frame: a commit that a crash kept from being finished, in which case
    /// nobody was told that its events are safe.
    package struct Cut: Sendable, Hashable, CustomStringConvertible {
        /// What was found.
        package let damage: Damage
        /// The file to which the bytes were moved.
        package let keptIn: String

        /// As `…: 96 bytes are no frame (the file ends in it); moved to 00000000000000000000.segment.312.cut`.
        package var description: String { "\(damage); moved to \(keptIn)" }
    }

    /// Sequence numbers that no segment has.
    package struct Gap: Sendable, Hashable, CustomStringConvertible {
        /// The first that is missing.
        package let from: UInt64
        /// The first that is there again.
        package let to: UInt64
        /// The segment behind the gap.
        package let before: String

        /// As `events 100 to 199 are missing before 00000000000000000200.segment`.
        package var description: String { "events \(from) to \(to &- 1) are missing before \(before)" }
    }

    /// What was cut.
    package internal(set) var cuts: [Cut] = []
    /// What is damaged, and left as it is.
    package internal(set) var damages: [Damage] = []
    /// What is missing.
    package internal(set) var gaps: [Gap] = []

    /// Whether the file of the journal's identity could not be read, so that it has another identity now.
    package private(set) var lostIdentity = false

    /// Whether everything was as it should be, a cut end aside.
    package var isIntact: Bool { damages.isEmpty && gaps.isEmpty }

    /// One sentence for each finding.
    package var sentences: [String] {
        cuts.map(\.description) + damages.map(\.description) + gaps.map(\.description)
            + (lostIdentity ? ["\(IdentityFile.name) could not be read; the journal has another identity now"] : [])
    }

    func noting(lostIdentity: Bool) -> RecoveryReport {
        var report = self
        report.lostIdentity = lostIdentity
        return report
    }
}
