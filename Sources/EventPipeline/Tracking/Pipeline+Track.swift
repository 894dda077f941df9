public import EventModel
import EventValidation

extension Pipeline {
    /// Takes one event; suspends while there is no room.
    ///
    /// Returning means acknowledged, as for `submit`: the event is in the queues of its trackers, or with a journal in the
    /// journal, synced as its durability says; an interval's timer goes while the pipeline runs.
    /// What is not stated here comes from `EventContext.current`.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - userID: The person, as your own systems know them.
    ///   - anonymousID: The person before they are known.
    ///   - sessionID: The visit.
    ///   - id: What makes a repetition recognisable. Default: a new UUID of version 7.
    ///   - time: When it happened. Default: now.
    /// A task that is cancelled while the event waits, for room or for its commit to the journal to begin, withdraws it. Once
    /// the commit is being written nobody can say how it ends, and a cancelled task does not wait for that.
    ///
    /// - Throws: `invalid` where the event does not follow the plan; `notTaken` after a cancellation while it waited, while
    ///   the pipeline shuts down, and where the journal cannot be written, or its disk does not answer; `outcomeUnknown`
    ///   after a cancellation while it was being written.
    public func track(
        _ event: some AnalyticsEvent,
        userID: String? = nil,
        anonymousID: String? = nil,
        sessionID: String? = nil,
        id: EventID? = nil,
        time: Timestamp? = nil
    ) async throws(TrackError) {
        let context = EventContext(userID: userID, anonymousID: anonymousID, sessionID: sessionID)
        let batch: EventBatch
        do throws(InvalidEvent) {
            batch = try self.batch(of: event, context: context, id: id, time: time)
        } catch {
            throw .invalid(error)
        }
        do throws(SubmissionError) { try await submit(batch) } catch { throw TrackError(error) }
    }

    /// Takes one event or says at once why not; never suspends, and never waits for room or for the journal.
    ///
    /// - Throws: `InvalidEvent` where the event does not follow the plan.
    public func tryTrack(
        _ event: some AnalyticsEvent,
        userID: String? = nil,
        anonymousID: String? = nil,
        sessionID: String? = nil,
        id: EventID? = nil,
        time: Timestamp? = nil
    ) throws(InvalidEvent) -> TrackOutcome {
        let context = EventContext(userID: userID, anonymousID: anonymousID, sessionID: sessionID)
        let batch = try batch(of: event, context: context, id: id, time: time)
        return offer(batch)
    }

    /// Takes events in their order, up to `maximumEventsABatch` at a time; suspends while there is no room.
    ///
    /// - Returns: How many were taken, which is all of them.
    /// - Throws: `TrackInterruption`, where not all were taken: those before it were.
    @discardableResult
    public func track(
        contentsOf events: some Sequence<some AnalyticsEvent>,
        context: EventContext = EventContext()
    ) async throws(TrackInterruption) -> Int {
        try await track(events, context: context) { builder, event, context throws(InvalidEvent) in
            try builder.append(event, context: context)
        }
    }

    /// The same for events of several types.
    @discardableResult
    public func track(
        contentsOf events: some Sequence<any AnalyticsEvent>,
        context: EventContext = EventContext()
    ) async throws(TrackInterruption) -> Int {
        try await track(events, context: context) { builder, event, context throws(InvalidEvent) in
            let event: any AnalyticsEvent = event
            try builder.append(event, context: context)
        }
    }

    private func track<Events: Sequence>(
        _ events: Events,
        context: EventContext,
        append: (inout EventBatchBuilder, Events.Element, EventContext) throws(InvalidEvent) -> Void
    ) async throws(TrackInterruption) -> Int {
        let context = EventContext.current.merging(context)
        var builder = EventBatchBuilder(catalog: catalog, now: now)
        var taken = 0
        for event in events {
            do throws(InvalidEvent) {
                try append(&builder, event, context)
            } catch {
                taken += try await submit(&builder, after: taken)
                throw TrackInterruption(taken: taken, reason: .invalid(error))
            }
            if builder.count == Self.maximumEventsABatch || builder.byteCount >= Self.maximumBytesABatch {
                taken += try await submit(&builder, after: taken)
            }
        }
        return taken + (try await submit(&builder, after: taken))
    }

    /// How many events of `track(contentsOf:)` are taken together.
    public static var maximumEventsABatch: Int { 1000 }

    /// So many bytes of them are taken together, though they are fewer.
    private static var maximumBytesABatch: Int { 1 << 20 }

    private func submit(_ builder: inout EventBatchBuilder, after taken: Int) async throws(TrackInterruption) -> Int {
        guard let batch = builder.finish() else { return 0 }
        do throws(SubmissionError) {
            try await submit(batch)
        } catch {
            throw TrackInterruption(taken: taken, reason: TrackError(error))
        }
        return batch.count
    }

    private func batch(
        of event: some AnalyticsEvent,
        context: EventContext,
        id: EventID?,
        time: Timestamp?
    ) throws(InvalidEvent) -> EventBatch {
        let context = EventContext.current.merging(context)
        let batch = try builders.withBuilder { builder throws(InvalidEvent) in
            try builder.append(event, context: context, id: id, time: time)
            return builder.finish()
        }
        guard let batch else { preconditionFailure("a builder with an event makes a batch") }
        return batch
    }
}
