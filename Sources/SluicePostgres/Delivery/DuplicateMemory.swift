/// Remembers recent duplicates, so that during the replay of a file each delivery is not loaded twice.
///
/// A direct load fails at the first duplicate and leaves dead rows behind; loading through a staging table costs about
/// twice as much as a direct load that succeeds. So after a duplicate, deliveries use the staging table until several
/// had none.
package struct DuplicateMemory: Sendable, Hashable {
    /// The number of consecutive deliveries without duplicates after which loads are direct again.
    package static let cleanDeliveriesToForget = 4

    private var remaining = 0

    package init() {}

    /// Whether the next delivery should use the staging table.
    package var isWary: Bool { remaining > 0 }

    /// Records that a delivery contained rows that are already in the table, or the same row twice.
    package mutating func noteDuplicates() {
        remaining = Self.cleanDeliveriesToForget
    }

    /// Records that a delivery through the staging table contained no duplicates.
    package mutating func noteClean() {
        remaining = max(0, remaining - 1)
    }
}
