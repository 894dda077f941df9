extension Pipeline {
    /// What has happened to the events of a batch when it is acknowledged.
    public struct Acknowledgement: Sendable, Hashable, CustomStringConvertible {
        package enum Kind: String, Sendable, CaseIterable {
            case stored, delivered
        }

        package let kind: Kind

        /// They are in the journal or, without a journal, in the queue of every tracker that they name.
        public static let stored = Acknowledgement(kind: .stored)
        /// Every tracker that they name has settled them: each is delivered, or was refused or parked and is in the quarantine.
        public static let delivered = Acknowledgement(kind: .delivered)

        /// The name of the case.
        public var description: String { kind.rawValue }
    }

    /// When a pipeline acknowledges a batch.
    public struct AcknowledgementPolicy: Sendable, Hashable, CustomStringConvertible {
        package enum Kind: String, Sendable, CaseIterable {
            case stored, delivered, deliveredIfAvailable
        }

        package let kind: Kind

        /// Once it is stored; the trackers get it later.
        public static let stored = AcknowledgementPolicy(kind: .stored)
        /// Once it is delivered; while one of its trackers does not deliver, it is not accepted (`TrackError.unavailable`).
        ///
        /// A batch that was accepted before the tracker failed stays accepted, and its sender waits.
        public static let delivered = AcknowledgementPolicy(kind: .delivered)
        /// Once it is delivered or, while one of its trackers does not deliver, or after its sender has stopped waiting, once it is
        /// stored.
        public static let deliveredIfAvailable = AcknowledgementPolicy(kind: .deliveredIfAvailable)

        /// The name of the case.
        public var description: String { kind.rawValue }
    }
}

// What senders wait for who want to know that their events are delivered.
extension DispatchState {
    /// Whether every tracker of a batch delivers at the moment.
    func delivers(_ batch: RoutedBatch) -> Bool {
        batch.queues.allSatisfy { trackers[$0].isDelivering }
    }

    /// Whether the sender of a batch that is stored now has to wait until it is delivered; if so, keeps its submission.
    ///
    /// Call it once the batch is in its queues, with the number in the journal that follows its events.
    mutating func awaitsDelivery(of submission: WaitingSubmission, before nextSequence: UInt64) -> Bool {
        guard configuration.acknowledgement != .stored, !submission.batch.queues.isEmpty else { return false }
        guard configuration.acknowledgement == .delivered || delivers(submission.batch) else { return false }
        let targets = submission.batch.queues.map { queue in (queue, trackers[queue].end(published: nextSequence)) }
        deliveryWaits.append(submission, until: targets)
        return true
    }

    /// Answers the senders whose batches a queue was the last to settle.
    mutating func endDeliveryWaits(settledIn queue: TrackerIndex, actions: inout DispatchActions) {
        guard !deliveryWaits.isEmpty else { return }
        let settled = deliveryWaits.settle(queue, to: trackers[queue].settled(published: published))
        actions.answered += settled.map { ($0, .success(.delivered)) }
    }

    /// Answers the senders that wait for a tracker which has stopped delivering, if being stored is enough for them now.
    mutating func endDeliveryWaits(failedIn queue: TrackerIndex, actions: inout DispatchActions) {
        guard configuration.acknowledgement == .deliveredIfAvailable, !deliveryWaits.isEmpty else { return }
        actions.answered += deliveryWaits.removeAll(of: queue).map { ($0, .success(.stored)) }
    }

    /// Answers the senders that wait for a queue which has lost events, because they may be among them.
    package mutating func endDeliveryWaits(lostIn queue: TrackerIndex, actions: inout DispatchActions) {
        actions.answered += deliveryWaits.removeAll(of: queue).map { ($0, .failure(.outcomeUnknown)) }
    }

    /// A sender stops waiting for a delivery: if being stored is enough, that is its answer.
    mutating func withdrawFromDelivery(number: UInt64, actions: inout DispatchActions) -> Pipeline.Withdrawal {
        guard deliveryWaits.contains(number: number) else { return .decided }
        guard configuration.acknowledgement == .deliveredIfAvailable,
            let submission = deliveryWaits.remove(number: number)
        else { return .committing }
        actions.answered.append((submission, .success(.stored)))
        return .decided
    }

    /// Answers all senders, because nothing more will be delivered.
    mutating func endAllDeliveryWaits(actions: inout DispatchActions) {
        let isEnough = configuration.acknowledgement == .deliveredIfAvailable
        actions.answered += deliveryWaits.removeAll().map {
            ($0, isEnough ? .success(.stored) : .failure(.outcomeUnknown))
        }
    }
}

extension TrackerState {
    /// Whether the tracker has started, its last start and delivery did not fail, and nobody has paused it.
    var isDelivering: Bool {
        if case .ended = phase { return false }
        return hasStarted && failure == nil && !isPaused
    }
}
