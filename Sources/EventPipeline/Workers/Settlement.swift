package import TrackerKit

/// The result of a delivery, after the tracker's outcome was checked against it.
///
/// A position that is outside the delivery or occurs twice is ignored and counted in `invalidPositions`. An event that is
/// both refused and to be retried counts as refused. If a position to retry is outside the delivery, everything that was not
/// refused is retried: a duplicate does less harm than a loss.
package struct Settlement: Sendable {
    /// How many events were delivered.
    package let delivered: Int
    /// How many of these the destination had already.
    package let alreadyStored: Int
    /// The events refused permanently, each once.
    package let refusals: [DeliveryOutcome.Refusal]
    /// How many events were parked in the quarantine.
    package var parked = 0
    /// Those of the parked events that the tracker's outcome says to park, with the reason, by ascending positions.
    package private(set) var parking: [(position: Int, reason: TrackerError)] = []
    /// The events to retry; `nil` if there are none.
    package let retry: Delivery?
    /// The positions of the events to retry, ascending.
    package let retryPositions: [Int]
    /// Why they are retried.
    package let retryReason: TrackerError?
    /// Those of the events to retry that are known to be stuck.
    package let stuck: [StuckGroup]
    /// How many positions were invalid.
    package let invalidPositions: Int

    /// The positions of the events that were not delivered.
    var undelivered: Set<Int> {
        Set(retryPositions + refusals.map(\.position) + parking.map(\.position))
    }

    /// Whether all of it was delivered.
    package var isDelivered: Bool { refusals.isEmpty && parked == 0 && retry == nil }

    /// Checks an outcome against its delivery.
    package init(of delivery: Delivery, outcome: DeliveryOutcome) {
        guard !outcome.refusals.isEmpty || !outcome.parked.isEmpty || outcome.retry != nil else {
            self.init(delivered: delivery.count, alreadyStored: outcome.alreadyStored)
            return
        }
        var check = PositionCheck(count: delivery.count)
        let refusals = outcome.refusals.filter { check.settle($0.position) }
        let parking = outcome.parked.flatMap { group in group.positions.map { (position: $0, reason: group.reason) } }
            .filter { check.settle($0.position) }
        let positions = outcome.retry.map { Self.positions(of: $0, check: &check) } ?? []
        let retried = Set(positions)
        self.init(
            of: delivery,
            alreadyStored: outcome.alreadyStored,
            refusals: refusals,
            parked: parking.count,
            retryPositions: positions,
            retryReason: outcome.retry?.reason,
            stuck: (outcome.retry?.stuck ?? []).filter { retried.isSuperset(of: $0.positions) }.flatMap { group in
                // One name each, as the contract says, whatever the tracker does.
                delivery.positionsByName(of: group.positions).map { name, positions in
                    StuckGroup(name: name, positions: positions, reason: group.reason, isWholeName: group.isWholeName)
                }
            },
            invalidPositions: check.outside + check.repeated
        )
        self.parking = parking.sorted { $0.position < $1.position }
    }

    /// The same result with some of the events to retry parked.
    package func parking(_ positions: Set<Int>, of delivery: Delivery) -> Settlement {
        Settlement(
            of: delivery,
            alreadyStored: alreadyStored,
            refusals: refusals,
            parked: parked + positions.count,
            retryPositions: retryPositions.filter { !positions.contains($0) },
            retryReason: retryReason,
            stuck: stuck.map { group in
                group.at(group.positions.filter { !positions.contains($0) })
            },
            invalidPositions: invalidPositions
        )
    }

    /// Makes the result of a delivery; what is neither refused, parked nor retried was delivered.
    init(
        of delivery: Delivery,
        alreadyStored: Int = 0,
        refusals: [DeliveryOutcome.Refusal],
        parked: Int = 0,
        retryPositions: [Int],
        retryReason: TrackerError?,
        stuck: [StuckGroup] = [],
        invalidPositions: Int = 0
    ) {
        delivered = delivery.count - refusals.count - parked - retryPositions.count
        self.alreadyStored = min(max(0, alreadyStored), delivered)
        self.stuck = stuck.filter { !$0.positions.isEmpty }
        self.refusals = refusals
        self.parked = parked
        self.retryPositions = retryPositions
        self.retryReason = retryPositions.isEmpty ? nil : retryReason
        self.invalidPositions = invalidPositions
        if retryPositions.isEmpty {
            retry = nil
        } else if retryPositions.count == delivery.count {
            retry = delivery
        } else {
            // All others are settled, or in the quarantine, when these are retried.
            retry = Delivery(delivery.selecting(retryPositions).slices, checkpoint: delivery.checkpoint)
        }
    }

    private init(delivered: Int, alreadyStored: Int) {
        self.delivered = delivered
        self.alreadyStored = min(max(0, alreadyStored), delivered)
        refusals = []
        retry = nil
        retryPositions = []
        retryReason = nil
        stuck = []
        invalidPositions = 0
    }

    /// The valid positions that a tracker asks to retry.
    private static func positions(of retry: DeliveryOutcome.Retry, check: inout PositionCheck) -> [Int] {
        let unsettled = check.unsettled
        var positions = unsettled
        if let stated = retry.positions {
            let outsideBefore = check.outside
            let wanted = stated.filter { check.settle($0) }
            positions = check.outside == outsideBefore ? wanted.sorted() : unsettled
        }
        return positions
    }
}

/// The positions of a delivery that have occurred.
private struct PositionCheck {
    private var isSettled: [Bool]
    private(set) var outside = 0
    private(set) var repeated = 0

    init(count: Int) {
        isSettled = Array(repeating: false, count: count)
    }

    /// Notes a position; returns false if it is outside the delivery or has occurred before.
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

    /// The positions that have not occurred, ascending.
    var unsettled: [Int] { isSettled.indices.filter { !isSettled[$0] } }
}
