import Journal

/// One broken table or topic does not block its tracker: its events are parked in the quarantine.
extension TrackerWorker {
    /// Delivers what is left of a delivery by the events' names, and parks what is stuck while others are delivered.
    func diagnose(_ delivery: Delivery, turn: Int) async {
        let diagnosis = await Diagnosis(of: delivery, turn: turn, send: send)
        for stuck in diagnosis.stuck where stuck.isWholeName { noteBroken(stuck.name, stuck.reason) }
        let parking = diagnosis.stuck.flatMap { stuck in stuck.positions.map { ($0, stuck.reason) } }
        let obstacle = await park(parking, of: delivery)
        let unparked = obstacle == nil ? [] : parking.map(\.0)
        await report(
            Settlement(
                of: delivery,
                refusals: diagnosis.refusals,
                parked: parking.count - unparked.count,
                retryPositions: (diagnosis.retryPositions + unparked).sorted(),
                retryReason: obstacle ?? diagnosis.retryReason ?? Self.cancelled
            ),
            stored: nil
        )
    }

    /// Parks the events that are known to be broken, and delivers the others.
    ///
    /// What is parked is synced before the others are delivered with the checkpoint, which is behind all of them. Where it
    /// cannot be kept, nothing is delivered either: the tracker stands until there is room.
    func deliver(_ delivery: Delivery, around broken: BrokenEvents) async {
        var parking: [(Int, TrackerError)] = []
        var refusals: [DeliveryOutcome.Refusal] = []
        var others: [Int] = []
        for (name, positions) in delivery.positionsByName() {
            switch broken.handling(of: name, now: pipeline.clock.now()) {
            case nil:
                others += positions
            case .park(let reason):
                parking += positions.map { ($0, reason) }
            case .probe(let reason):
                let probe = await send(delivery.selecting(positions.prefix(1)))
                if let said = probe.retryReason {
                    // That nothing can be reached says nothing new about the table.
                    let reason = said.code == .unavailable || said.code == .cancelled ? reason : said
                    noteBroken(name, reason)
                    parking += positions.map { ($0, reason) }
                } else {
                    noteMended(name)
                    refusals += probe.refusals.map { .init(position: positions[0], reason: $0.reason) }
                    others += positions.dropFirst()
                }
            }
        }
        others.sort()
        if let obstacle = await park(parking, of: delivery) {
            let retried = (others + parking.map(\.0)).sorted()
            let settlement = Settlement(
                of: delivery,
                refusals: refusals,
                retryPositions: retried,
                retryReason: obstacle
            )
            return await report(settlement, stored: nil)
        }
        guard !others.isEmpty else {
            let settlement = Settlement(
                of: delivery,
                refusals: refusals,
                parked: parking.count,
                retryPositions: [],
                retryReason: nil
            )
            return await report(settlement, stored: nil)
        }
        let rest = Delivery(delivery.selecting(others).slices, checkpoint: delivery.checkpoint)
        let settlement = await send(rest)
        refusals += settlement.refusals.map { .init(position: others[$0.position], reason: $0.reason) }
        await report(
            Settlement(
                of: delivery,
                refusals: refusals,
                parked: parking.count,
                retryPositions: settlement.retryPositions.map { others[$0] },
                retryReason: settlement.retryReason
            ),
            stored: checkpoint(of: rest, settlement)
        )
    }

    /// Keeps events in the quarantine; returns why that failed, where it did.
    private func park(_ events: [(position: Int, reason: TrackerError)], of delivery: Delivery) async -> TrackerError? {
        guard !events.isEmpty else { return nil }
        let sorted = events.sorted { $0.position < $1.position }
        let parked = zip(delivery.selecting(sorted.map(\.position)), sorted).map { ($0, $1.reason.debugDescription) }
        do throws(JournalError) {
            try await pipeline.rejects.keep(parked, refusedBy: tracker.name, as: .parked)
        } catch {
            return TrackerError(
                code: .failed,
                message: "The quarantine does not keep the events that cannot be delivered. \(error.message)",
                isRetryable: false
            )
        }
        pipeline.metrics[queue].parked(parked.count)
        let now = pipeline.clock.now()
        let unreported = pipeline.decide { state, _ in state.noteParked(parked.count, of: queue, now: now) }
        if let unreported { pipeline.log.parked(unreported, tracker: tracker.name) }
        return nil
    }

    private func noteBroken(_ name: String, _ reason: TrackerError) {
        let now = pipeline.clock.now()
        let isNew = pipeline.decide { state, _ in state.noteBroken(name, reason, of: queue, now: now) }
        if isNew { pipeline.log.broken(name, reason, tracker: tracker.name) }
    }

    private func noteMended(_ name: String) {
        pipeline.decide { state, _ in state.noteMended(name, of: queue) }
        pipeline.log.mended(name, tracker: tracker.name)
    }

    private static let cancelled = TrackerError(
        code: .cancelled,
        message: "The delivery was cancelled.",
        isRetryable: true
    )
}
