import EventJournal
import EventModel
import EventQuarantine
import TrackerKit

/// One broken table or topic does not block its tracker: its events are parked in the quarantine.
extension TrackerWorker {
    /// Finds the events in the rest of a delivery that are stuck while others are delivered, and parks them.
    func diagnose(_ delivery: Delivery, turn: Int, patience: Patience) async {
        let limits = pipeline.decide { state, _ in state.deliveryLimits(of: queue) }
        let diagnosis = await Diagnosis(of: delivery, turn: turn, patience: patience, limits: limits, send: send)
        let parking = diagnosis.parking.flatMap { stuck in stuck.positions.map { ($0, stuck.reason) } }
        let obstacle = await park(parking, of: delivery)
        pipeline.decide { state, _ in state.accepted(diagnosis.deliveredNames, by: queue) }
        if obstacle == nil { noteBroken(diagnosis.parking, besides: diagnosis.deliveredNames) }
        let unparked = obstacle == nil ? [] : parking.map(\.0)
        await report(
            Settlement(
                of: delivery,
                refusals: diagnosis.refusals,
                parked: diagnosis.parked + parking.count - unparked.count,
                retryPositions: (diagnosis.retryPositions + unparked).sorted(),
                retryReason: obstacle ?? diagnosis.retryReason ?? .cancelled,
                stuck: diagnosis.stuck + (obstacle == nil ? [] : diagnosis.parking)
            ),
            stored: nil
        )
    }

    /// Parks the events that are known to be broken, and delivers the others.
    ///
    /// Parked events are synced before the others are delivered, because the checkpoint covers all of them. If they cannot be
    /// stored, nothing is delivered either: the tracker stops until there is room.
    func deliver(_ delivery: Delivery, around broken: BrokenEvents) async {
        let now = pipeline.clock.now()
        var sorted = SortedEvents()
        var probe: (name: String, positions: [Int], reason: TrackerError)?
        for (name, positions) in delivery.positionsByName() {
            switch broken.handling(of: name, now: now) {
            case nil: sorted.others += positions
            case .probe(let reason) where probe == nil: probe = (name, positions, reason)
            case .probe(let reason), .park(let reason): sorted.parking += positions.map { ($0, reason) }
            }
        }
        sorted.others.sort()
        if let obstacle = await park(sorted.parking, of: delivery) {
            return await report(
                Settlement(
                    of: delivery,
                    refusals: [],
                    retryPositions: Array(0..<delivery.count),
                    retryReason: obstacle
                ),
                stored: nil
            )
        }
        guard let probe else { return await deliverOthers(sorted, of: delivery) }
        // Before the probe, which may take long; and without the checkpoint, because the probed event precedes it.
        await send(sorted.others, of: delivery, &sorted)
        if sorted.isSuperseded {
            sorted.retry(probe.positions)
        } else {
            await self.probe(probe.name, probe.positions, probe.reason, of: delivery, &sorted)
        }
        await report(sorted.settlement(of: delivery), stored: nil)
    }

    /// Delivers the events that are not parked, with the checkpoint.
    private func deliverOthers(_ sorted: SortedEvents, of delivery: Delivery) async {
        var sorted = sorted
        guard !sorted.others.isEmpty else { return await report(sorted.settlement(of: delivery), stored: nil) }
        let rest = Delivery(delivery.selecting(sorted.others).slices, checkpoint: delivery.checkpoint)
        let settlement = await sendAndPark(rest)
        sorted.note(settlement, of: sorted.others)
        await report(sorted.settlement(of: delivery), stored: checkpoint(of: rest, settlement))
    }

    private func send(_ positions: [Int], of delivery: Delivery, _ sorted: inout SortedEvents) async {
        guard !positions.isEmpty else { return }
        sorted.note(await sendAndPark(delivery.selecting(positions)), of: positions)
    }

    /// Sends events, and parks those that are stuck if events of their names were parked before: these have waited long enough.
    private func sendAndPark(_ delivery: Delivery) async -> Settlement {
        let settlement = await send(delivery)
        let now = pipeline.clock.now()
        let failed = settlement.undelivered
        let accepted = Set(delivery.selecting((0..<delivery.count).filter { !failed.contains($0) }).map(\.name))
        let known = pipeline.decide { state, _ in
            state.accepted(accepted, by: queue)
            return settlement.stuck.filter { state.parksAtOnce($0.name, of: queue, now: now) }
        }
        let parking = known.flatMap { group in group.positions.map { ($0, group.reason) } }
        guard !parking.isEmpty, await park(parking, of: delivery) == nil else { return settlement }
        noteBroken(known, besides: accepted)
        return settlement.parking(Set(parking.map(\.0)), of: delivery)
    }

    /// Tries one of the undelivered events of a name; the others are delivered or parked with it.
    private func probe(
        _ name: String,
        _ positions: [Int],
        _ reason: TrackerError,
        of delivery: Delivery,
        _ sorted: inout SortedEvents
    ) async {
        let began = pipeline.clock.now()
        let probe = await send(delivery.selecting(positions.prefix(1)))
        guard let said = probe.retryReason else {
            noteRepaired(name)
            sorted.note(probe, of: [positions[0]])
            return await send(Array(positions.dropFirst()), of: delivery, &sorted)
        }
        // An unreachable destination says nothing new about the table.
        let reason = said.code == .unavailable || said.code == .cancelled ? reason : said
        noteBroken(name, reason, after: pipeline.clock.now() - began)
        let parking = positions.map { ($0, reason) }
        if let obstacle = await park(parking, of: delivery) {
            sorted.retry(positions, obstacle)
        } else {
            sorted.parking += parking
        }
    }

    /// Stores events in the quarantine; returns the error if that failed.
    func park(_ events: [(position: Int, reason: TrackerError)], of delivery: Delivery) async -> TrackerError? {
        guard !events.isEmpty else { return nil }
        let sorted = events.sorted { $0.position < $1.position }
        let parked = zip(delivery.selecting(sorted.map(\.position)), sorted).map { ($0, $1.reason.debugDescription) }
        do throws(JournalError) {
            try await pipeline.quarantine.keep(parked, refusedBy: tracker.name, as: .parked)
        } catch {
            return TrackerError(
                code: .failed,
                message: "The quarantine does not keep the events that cannot be delivered. \(error.message)",
                isRetryable: false
            )
        }
        pipeline.metrics[queue].parked(parked.count)
        pipeline.log.parked(parked.count, tracker: tracker.name)
        return nil
    }

    /// Notes that events were parked; some events with the names `accepted` were accepted.
    private func noteBroken(_ groups: [StuckGroup], besides accepted: Set<String>) {
        for group in groups {
            noteBroken(
                group.name,
                group.reason,
                isWholeName: group.isWholeName,
                failures: accepted.contains(group.name) ? 0 : group.positions.count
            )
        }
    }

    private func noteBroken(
        _ name: String,
        _ reason: TrackerError,
        isWholeName: Bool = true,
        failures: Int = 0,
        after probe: Duration = .zero
    ) {
        let now = pipeline.clock.now()
        let isNew = pipeline.decide { state, _ in
            state.noteBroken(
                name,
                reason,
                isWholeName: isWholeName,
                failures: failures,
                of: queue,
                after: probe,
                now: now
            )
        }
        if isNew { pipeline.log.broken(name, reason, tracker: tracker.name) }
    }

    private func noteRepaired(_ name: String) {
        let now = pipeline.clock.now()
        let duration = pipeline.decide { state, _ in state.noteRepaired(name, of: queue, now: now) }
        pipeline.log.repaired(name, tracker: tracker.name, after: duration)
    }
}

/// The outcome of each event of a delivery in which some events are parked, by position.
private struct SortedEvents {
    var parking: [(position: Int, reason: TrackerError)] = []
    var others: [Int] = []
    /// How many more events are parked.
    private var parked = 0
    private var refusals: [DeliveryOutcome.Refusal] = []
    private var retryPositions: [Int] = []
    private var retryReason: TrackerError?
    private var stuck: [StuckGroup] = []
    private var alreadyStored = 0

    /// Notes the outcome of the events at some positions.
    mutating func note(_ settlement: Settlement, of positions: [Int]) {
        parked += settlement.parked
        alreadyStored += settlement.alreadyStored
        stuck += settlement.stuck.map { group in group.at(group.positions.map { positions[$0] }) }
        refusals += settlement.refusals.map { .init(position: positions[$0.position], reason: $0.reason) }
        if let reason = settlement.retryReason { retry(settlement.retryPositions.map { positions[$0] }, reason) }
    }

    /// Notes events to retry; without a reason of their own they get that of the others.
    mutating func retry(_ positions: [Int], _ reason: TrackerError? = nil) {
        retryPositions += positions
        if let reason { retryReason = reason }
    }

    /// Whether another process delivers these events.
    var isSuperseded: Bool { retryReason?.code == .superseded }

    func settlement(of delivery: Delivery) -> Settlement {
        Settlement(
            of: delivery,
            alreadyStored: alreadyStored,
            refusals: refusals,
            parked: parking.count + parked,
            retryPositions: retryPositions.sorted(),
            retryReason: retryReason,
            stuck: stuck
        )
    }
}
