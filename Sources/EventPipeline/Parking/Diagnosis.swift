import TrackerKit

/// Finds the events that block a delivery: all those of a broken table or topic, or single ones.
///
/// Only a delivered event shows that the destination works, and that an event which fails is stuck. If nothing can be
/// delivered, the destination is unavailable and the diagnosis has no result. Events that work are sent together, in order.
struct Diagnosis: Sendable {
    /// In an outage each attempt may take until its timeout, so at most this many names are tried.
    private static let maximumVainAttempts = 4
    /// How many events of a name must fail alone before all events of the name count as stuck.
    private static let samples = 4
    /// The maximum number of attempts to find single events that fail; the others wait for the next diagnosis.
    private static let maximumSearchAttempts = 64

    /// The events that the tracker refused, by their positions in the delivery.
    private(set) var refusals: [DeliveryOutcome.Refusal] = []
    /// How many events were parked because the tracker said so.
    private(set) var parked = 0
    /// The events that are not delivered while others are, for so long that they are parked.
    private(set) var parking: [StuckGroup] = []
    /// Those of the events to retry that are not delivered while others are, and for which there is still patience.
    private(set) var stuck: [StuckGroup] = []
    /// The positions of the events to retry, ascending.
    private(set) var retryPositions: [Int] = []
    /// Why those are retried.
    private(set) var retryReason: TrackerError?
    /// The names of events that were delivered.
    private(set) var deliveredNames: Set<String> = []

    private let delivery: Delivery
    private let limits: DeliveryLimits
    private let patience: Patience
    private let send: @Sendable (Delivery) async -> Settlement
    private var hasDelivered = false
    /// Another process delivers these events, so this one must not act on the result.
    private var isSuperseded = false

    /// Sends the events of a delivery; no call of `send` exceeds the limits.
    ///
    /// `turn` selects the name to begin with, so that every name is tried even if the first ones fail. Events that are known to be
    /// stuck need no others to be delivered now, as long as the destination says the same as when it accepted others.
    init(
        of delivery: Delivery,
        turn: Int,
        patience: Patience,
        limits: DeliveryLimits,
        send: @escaping @Sendable (Delivery) async -> Settlement
    ) async {
        self.delivery = delivery
        self.limits = limits
        self.patience = patience
        self.send = send
        var left = await settle(Array(0..<delivery.count))
        if !hasDelivered { left = await findWhatWorks(in: left, turn: turn) }
        if hasDelivered {
            for (name, positions) in delivery.positionsByName(of: left) { await isolate(positions, of: name) }
        } else if let reason = retryReason, !reason.isOutage, patience.stuck.explains(reason),
            patience.stuck.contains(delivery.selecting(left))
        {
            addKnown(delivery.positionsByName(of: left))
        } else {
            retryPositions += left
        }
        if isOver {
            // Another process may deliver them, or the end of the pipeline has cancelled what would have.
            retryPositions += parking.flatMap(\.positions)
            parking = []
            stuck = []
        }
        retryPositions.sort()
    }

    /// The diagnosis is over: there is nothing more to learn, or to act on.
    private var isOver: Bool { Task.isCancelled || isSuperseded }

    /// Sends the events by their names, or by halves if all have one name, until one of them is delivered.
    ///
    /// Then the rest is sent together, in order. Returns what remains undelivered.
    private mutating func findWhatWorks(in positions: [Int], turn: Int) async -> [Int] {
        let names = delivery.positionsByName(of: positions).map(\.positions)
        let parts = names.count > 1 ? names : Self.halves(of: positions).reversed()
        var left = Set(positions)
        for place in parts.indices.prefix(Self.maximumVainAttempts) {
            let part = parts[(place + turn * Self.maximumVainAttempts) % parts.count]
            left.subtract(part)
            left.formUnion(await settle(part))
            if isOver { break }
            if hasDelivered { return await settle(left.sorted()) }
        }
        return left.sorted()
    }

    /// Finds the stuck events of a name, once others were delivered.
    private mutating func isolate(_ positions: [Int], of name: String) async {
        var left = await settle(positions)
        if !deliveredNames.contains(name) {
            for sample in Self.samples(of: left) where !deliveredNames.contains(name) {
                if await settle([sample]).isEmpty { left.removeAll { $0 == sample } }
            }
            if !deliveredNames.contains(name) { return add(left, of: name, isWholeName: true) }
        }
        var attempts = 0
        var parts = Self.halves(of: left)
        while let part = parts.popLast() {
            guard attempts < Self.maximumSearchAttempts, !isOver else {
                retryPositions += part
                continue
            }
            attempts += 1
            let failed = await settle(part)
            if failed.count == 1, part.count == 1 {
                add(failed, of: name, isWholeName: false)
            } else if !failed.isEmpty {
                parts += Self.halves(of: failed)
            }
        }
    }

    /// Sends events alone, in parts within the limits, as long as that delivers anything; returns the remaining events.
    private mutating func settle(_ positions: [Int]) async -> [Int] {
        var left: [Int] = []
        var rest = positions[...]
        while !rest.isEmpty, !isOver {
            let part = self.part(of: rest)
            rest = rest.dropFirst(part.count)
            let selection = delivery.selecting(part)
            let settlement = await send(selection)
            for refusal in settlement.refusals {
                refusals.append(.init(position: part[part.startIndex + refusal.position], reason: refusal.reason))
            }
            parked += settlement.parked
            for group in settlement.stuck {
                let group = group.at(group.positions.map { part[part.startIndex + $0] })
                add(group, isDue: patience.hasEnded(forKnown: group.name))
            }
            let known = Set(settlement.stuck.flatMap(\.positions))
            left += settlement.retryPositions.filter { !known.contains($0) }.map { part[part.startIndex + $0] }
            if let reason = settlement.retryReason { note(reason) }
            if settlement.delivered > 0 { noteDelivered(in: selection, settlement) }
            if settlement.delivered == 0, !settlement.retryPositions.isEmpty { break }
        }
        return left + rest
    }

    /// Adds events that were known to be stuck before.
    private mutating func addKnown(_ groups: [(name: String, positions: [Int])]) {
        for (name, positions) in groups {
            guard let reason = patience.stuck.reason(name) else { continue }
            let isWholeName = patience.stuck.isWholeName(name)
            add(
                StuckGroup(name: name, positions: positions, reason: reason, isWholeName: isWholeName),
                isDue: patience.hasEnded(forKnown: name)
            )
        }
    }

    private mutating func add(_ group: StuckGroup, isDue: Bool) {
        if isDue {
            parking.append(group)
        } else {
            stuck.append(group)
            retryPositions += group.positions
        }
    }

    /// The positions that fit into one call, at least one.
    private func part(of positions: ArraySlice<Int>) -> ArraySlice<Int> {
        var part = positions.prefix(limits.maximumEvents)
        while part.count > 1, delivery.selecting(part).byteCount > limits.maximumBytes {
            part = part.prefix(part.count / 2)
        }
        return part
    }

    private mutating func note(_ reason: TrackerError) {
        retryReason = reason
        if reason.code == .superseded { isSuperseded = true }
    }

    private mutating func noteDelivered(in delivery: Delivery, _ settlement: Settlement) {
        hasDelivered = true
        let others = settlement.undelivered
        for (position, event) in delivery.enumerated() where !others.contains(position) {
            deliveredNames.insert(event.name)
        }
    }

    /// Notes events that failed once more after others were delivered.
    private mutating func add(_ positions: [Int], of name: String, isWholeName: Bool) {
        guard let reason = retryReason, !positions.isEmpty else { return }
        // A cancelled delivery proves nothing, and neither does a destination that became unavailable meanwhile.
        if isOver || reason.code == .unavailable {
            retryPositions += positions
        } else {
            add(
                StuckGroup(name: name, positions: positions, reason: reason, isWholeName: isWholeName),
                isDue: patience.hasEnded(forFound: name)
            )
        }
    }

    /// The two halves of some positions, the second first; only one for a single position.
    private static func halves(of positions: [Int]) -> [[Int]] {
        let half = positions.count / 2
        return [Array(positions[half...]), Array(positions[..<half])].filter { !$0.isEmpty }
    }

    /// A few positions, the first and the last among them.
    private static func samples(of positions: [Int]) -> [Int] {
        guard positions.count > samples else { return positions }
        return (0..<samples).map { positions[$0 * (positions.count - 1) / (samples - 1)] }
    }
}
