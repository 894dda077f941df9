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

    /// Books one event; what it throws sends the event to the quarantine.
    package func track(_ event: TrackedEvent) async throws {
        try await ledger.book(event)
    }
}
