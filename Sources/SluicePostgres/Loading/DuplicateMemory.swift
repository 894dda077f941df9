/// Remembers that duplicates are about, so that a replayed file does not pay for each delivery twice.
///
/// The direct way fails at the first duplicate and leaves dead rows behind; the staging way costs about twice as much as
/// a direct load that succeeds. So after a duplicate the staging way is kept until so many deliveries had none.
package struct DuplicateMemory: Sendable, Hashable {
    /// How many deliveries without a duplicate end the wariness.
    package static let cleanDeliveriesToForget = 4

    private var remaining = 0

    package init() {}

    /// Whether the next delivery should go through staging.
    package var isWary: Bool { remaining > 0 }

    /// A delivery held rows that are in the table already, or twice in itself.
    package mutating func noteDuplicates() {
        remaining = Self.cleanDeliveriesToForget
    }

    /// A delivery that went through staging held none.
    package mutating func noteClean() {
        remaining = max(0, remaining - 1)
    }
}
