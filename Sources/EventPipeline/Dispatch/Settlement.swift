/// What an outcome comes to, after what a tracker said has been checked against the delivery.
///
/// A position outside the delivery or named twice is ignored and counted in `invalidPositions`. An event that is both
/// refused and to be tried again counts as refused. Where a position to be tried again is outside the delivery, everything
/// that was not refused is tried again: a repetition does less harm than a loss.
package struct Settlement: Sendable {
    /// How many events were delivered.
    package let delivered: Int
    /// The events refused for good, each once.
    package let refusals: [DeliveryOutcome.Refusal]
    /// What is to be tried again; `nil` where nothing is.
    package let retry: Delivery?
    /// Why it is to be tried again.
    package let retryReason: TrackerError?
    /// How many positions made no sense.
    package let invalidPositions: Int

    /// Whether all of it was delivered.
    package var isDelivered: Bool { refusals.isEmpty && retry == nil }

    /// Checks an outcome against its delivery.
    package init(of delivery: Delivery, outcome: DeliveryOutcome) {
        guard !outcome.refusals.isEmpty || outcome.retry != nil else {
            self.init(delivered: delivery.count)
            return
        }
        var check = PositionCheck(count: delivery.count)
        let refusals = outcome.refusals.filter { check.settle($0.position) }
        let retry = outcome.retry.flatMap { Self.remainder(of: delivery, $0, check: &check) }
        self.init(
            delivered: delivery.count - refusals.count - (retry?.count ?? 0),
            refusals: refusals,
            retry: retry,
            retryReason: retry == nil ? nil : outcome.retry?.reason,
            invalidPositions: check.outside + check.repeated
        )
    }

    private init(
        delivered: Int,
        refusals: [DeliveryOutcome.Refusal] = [],
        retry: Delivery? = nil,
        retryReason: TrackerError? = nil,
        invalidPositions: Int = 0
    ) {
        self.delivered = delivered
        self.refusals = refusals
        self.retry = retry
        self.retryReason = retryReason
        self.invalidPositions = invalidPositions
    }

    private static func remainder(
        of delivery: Delivery,
        _ retry: DeliveryOutcome.Retry,
        check: inout PositionCheck
    ) -> Delivery? {
        let unsettled = check.unsettled
        var positions = unsettled
        if let stated = retry.positions {
            let outsideBefore = check.outside
            let wanted = stated.filter { check.settle($0) }
            positions = check.outside == outsideBefore ? wanted.sorted() : unsettled
        }
        if positions.isEmpty { return nil }
        if positions.count == delivery.count { return delivery }
        // All others are delivered, or in the quarantine when these are tried again.
        return Delivery(delivery.selecting(positions).slices, checkpoint: delivery.checkpoint)
    }
}

/// Which positions of a delivery have been named.
private struct PositionCheck {
    private var isSettled: [Bool]
    private(set) var outside = 0
    private(set) var repeated = 0

    init(count: Int) {
        isSettled = Array(repeating: false, count: count)
    }

    /// Notes a position; false where it is outside the delivery or was named before.
    mutating func settle(_ position: Int) -> Bool {
        guard isSettled.indices.contains(position) else {
            outside += 1
            return false
        }
        guard !isSettled[position] else {
            repeated += 1
            return false
        }
        isSettled[position] = true
        return true
    }

    /// The positions that have not been named, ascending.
    var unsettled: [Int] { isSettled.indices.filter { !isSettled[$0] } }
}
