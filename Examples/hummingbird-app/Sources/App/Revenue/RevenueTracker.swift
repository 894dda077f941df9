package import TrackerKit

/// A custom tracker that sums up the orders, for `GET /revenue`.
package struct RevenueTracker: SingleEventTracker {
    /// The name that the plan's events refer to.
    package let name = "revenue"
    private let ledger: RevenueLedger

    /// Creates a tracker that books into `ledger`.
    package init(ledger: RevenueLedger) {
        self.ledger = ledger
    }

    /// Books an event.
    ///
    /// - Throws: `EventRefusal` for an event that the ledger cannot decode, because a retry would not help.
    package func track(_ event: TrackedEvent) async throws {
        do {
            try await ledger.book(event)
        } catch let error as DecodingError {
            throw EventRefusal("\(error)")
        }
    }
}
