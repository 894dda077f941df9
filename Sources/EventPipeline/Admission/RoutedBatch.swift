package import EventValidation

/// A batch split by queue: the events for each of the pipeline's queues.
package struct RoutedBatch: Sendable {
    /// The batch.
    package let batch: EventBatch
    /// The number of events in the batch.
    package var count: Int { batch.count }
    /// The number of events none of whose trackers is configured.
    package let unrouted: Int
    /// The queues that get events of it.
    package let queues: QueueSet
    /// The events for each of these queues, if they are the same for all; the usual case, which needs no additional memory.
    private let shared: EventSlice?
    /// Otherwise what each gets, in the order of the queues.
    private let separate: [EventSlice]

    fileprivate init(batch: EventBatch, unrouted: Int, queues: QueueSet, shared: EventSlice?, separate: [EventSlice]) {
        self.batch = batch
        self.unrouted = unrouted
        self.queues = queues
        self.shared = shared
        self.separate = separate
    }

    /// What one of `queues` gets.
    @inline(__always)
    package func slice(of queue: TrackerIndex) -> EventSlice? {
        if let shared { return shared }
        let place = queues.rank(of: queue)
        return separate.indices.contains(place) ? separate[place] : nil
    }
}

/// Knows which queue each of a catalog's trackers has.
package struct Router: Sendable {
    private let catalog: EventCatalog
    /// The names of the pipeline's trackers in lower case, in the order of their queues.
    private let names: [String]
    /// For each bit of the catalog's masks the queues it stands for; empty where the tracker is not configured.
    private let queuesByBit: [QueueSet]
    /// For each queue the bit of its tracker; zero where the catalog does not name it.
    private let masksByQueue: [UInt64]
    /// The bits that stand for a queue.
    private let configuredMask: UInt64

    /// Matches trackers with a catalog, by name and without regard to case.
    package init(catalog: EventCatalog, trackerNames: [String]) {
        self.catalog = catalog
        names = trackerNames.map { $0.lowercased() }
        var queuesByBit: [QueueSet] = []
        var mask: UInt64 = 0
        for (bit, name) in catalog.trackerNames.enumerated() {
            let queue = names.firstIndex(of: name).map { TrackerIndex($0) }
            queuesByBit.append(queue.map { [$0] } ?? [])
            if queue != nil { mask |= 1 << UInt64(bit) }
        }
        self.queuesByBit = queuesByBit
        configuredMask = mask
        masksByQueue = names.map { catalog.mask(ofTracker: $0) }
    }

    /// Splits a batch by queue.
    ///
    /// Its catalog may differ from the pipeline's; then the trackers are matched by name.
    package func route(_ batch: EventBatch) -> RoutedBatch {
        guard batch.catalog === catalog else {
            return Router(catalog: batch.catalog, trackerNames: names).route(batch)
        }
        let queues = queues(of: batch.trackerMask)
        if batch.isUniform {
            let unrouted = queues.isEmpty ? batch.count : 0
            return RoutedBatch(
                batch: batch,
                unrouted: unrouted,
                queues: queues,
                shared: EventSlice(batch),
                separate: []
            )
        }
        return routeMixed(batch, queues: queues)
    }

    private func queues(of mask: UInt64) -> QueueSet {
        var queues: QueueSet = []
        for bit in QueueSet(bits: mask & configuredMask) {
            queues.formUnion(queuesByBit[bit])
        }
        return queues
    }

    private func routeMixed(_ batch: EventBatch, queues: QueueSet) -> RoutedBatch {
        let masks = batch.catalog.trackerMasks
        var unrouted = 0
        for entry in batch.entries where masks[Int(entry.definitionIndex)] & configuredMask == 0 {
            unrouted += 1
        }
        // A queue of the set has events in the batch, so none of the slices is missing.
        let separate = queues.compactMap { queue in
            EventSlice(batch, for: masksByQueue[queue])?.compacted()
        }
        return RoutedBatch(batch: batch, unrouted: unrouted, queues: queues, shared: nil, separate: separate)
    }
}
