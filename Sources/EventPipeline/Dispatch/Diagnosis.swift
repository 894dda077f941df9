/// Finds out which events of a delivery keep the others from being delivered: their table or topic is broken.
///
/// The events of each name are sent alone. What fails although others were delivered, and fails once more after that, is
/// stuck. Where nothing is delivered the destination is unavailable, and nothing is known.
struct Diagnosis: Sendable {
    /// Events of one name that are not delivered while others are.
    struct Stuck: Sendable {
        let name: String
        /// Their positions in the delivery.
        let positions: [Int]
        /// What the destination said to them alone.
        let reason: TrackerError
        /// Whether no event of the name was delivered.
        let isWholeName: Bool
    }

    /// In an outage each attempt may take as long as a time limit, so no more names than this are tried in vain at once.
    private static let maximumFailedNames = 8
    /// How many events of a name are found out to fail one by one.
    private static let maximumSingleEvents = 8

    /// The events that the tracker refused, by their positions in the delivery.
    private(set) var refusals: [DeliveryOutcome.Refusal] = []
    /// The events that are not delivered while others are.
    private(set) var stuck: [Stuck] = []
    /// The positions of the other events that are to be tried again, ascending.
    private(set) var retryPositions: [Int] = []
    /// Why those are to be tried again.
    private(set) var retryReason: TrackerError?

    /// The events of one name, as far as they are not settled.
    private struct Group {
        let name: String
        var positions: [Int]
        var isWholeName = true
        var reason: TrackerError?
    }

    /// Sends the events of a delivery by their names.
    ///
    /// `turn` says with which name to begin, so that each has its turn though the first ones fail.
    init(of delivery: Delivery, turn: Int, send: (Delivery) async -> Settlement) async {
        let names = delivery.positionsByName()
        var failed: [Group] = []
        var hasSettled = false
        for place in names.indices {
            let (name, positions) = names[(place + turn) % names.count]
            var group = Group(name: name, positions: positions)
            if Task.isCancelled || !hasSettled && failed.count >= Self.maximumFailedNames {
                retry(group)
            } else {
                if await settle(&group, of: delivery, send) { hasSettled = true }
                if !group.positions.isEmpty { failed.append(group) }
            }
        }
        for var group in failed {
            if hasSettled, !Task.isCancelled {
                await isolate(&group, of: delivery, send)
            } else {
                retry(group)
            }
        }
        retryPositions.sort()
    }

    /// Sends what is left of a group once more, since others were delivered; what fails is stuck.
    ///
    /// A tracker of single events gives up at the first that fails, so the rest is tried without it, as long as that helps.
    private mutating func isolate(
        _ group: inout Group,
        of delivery: Delivery,
        _ send: (Delivery) async -> Settlement
    ) async {
        _ = await settle(&group, of: delivery, send)
        var first = Group(name: group.name, positions: [], reason: group.reason)
        while group.positions.count > 1, first.positions.count < Self.maximumSingleEvents {
            first.positions.append(group.positions.removeFirst())
            first.reason = group.reason
            guard await settle(&group, of: delivery, send) else { break }
        }
        first.isWholeName = group.isWholeName
        add(first)
        add(group)
    }

    /// Sends what is left of a group alone; returns whether any of it is settled.
    private mutating func settle(
        _ group: inout Group,
        of delivery: Delivery,
        _ send: (Delivery) async -> Settlement
    ) async -> Bool {
        let positions = group.positions
        let settlement = await send(delivery.selecting(positions))
        for refusal in settlement.refusals {
            refusals.append(.init(position: positions[refusal.position], reason: refusal.reason))
        }
        group.positions = settlement.retryPositions.map { positions[$0] }
        group.reason = settlement.retryReason
        guard group.positions.count < positions.count else { return false }
        group.isWholeName = false
        return true
    }

    private mutating func add(_ group: Group) {
        guard let reason = group.reason, !group.positions.isEmpty else { return }
        // A delivery that was cancelled in the middle says nothing.
        if Task.isCancelled { return retry(group) }
        stuck.append(
            Stuck(name: group.name, positions: group.positions, reason: reason, isWholeName: group.isWholeName)
        )
    }

    private mutating func retry(_ group: Group) {
        retryPositions += group.positions
        if let reason = group.reason { retryReason = reason }
    }
}
