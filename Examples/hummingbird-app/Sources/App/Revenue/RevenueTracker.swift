package import EventPipeline

/// A tracker of this service's own: it adds up what was ordered, for `GET /revenue`.
package struct RevenueTracker: SingleEventTracker {
    /// The name by which the plan's events name this tracker.
    package let name = "revenue"
    private let ledger: RevenueLedger

    /// Books into `ledger`.
    package init(ledger: RevenueLedger) {
        self.ledger = ledger
    }

    /// Books one event.
    ///
    /// - Throws: `EventRefusal` for an event that the ledger cannot read: trying it again would not help.
    package func track(_ event: TrackedEvent) async throws {
        do {
            try await ledger.book(event)
        } catch let error as DecodingError {
            throw EventRefusal("\(error)")
        }
    }
}
