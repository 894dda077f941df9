public import EventModel
public import EventValidation

extension Pipeline {
    /// Tracks one event; suspends while there is no room.
    ///
    /// When it returns, the event is in the journal, synced as the journal's durability says; without a journal it is in the
    /// queues of its trackers. With the durability `interval`, the journal is synced only while the pipeline runs.
    ///
    /// If the task is cancelled while the event waits for room or for its commit to the journal to begin, the event is withdrawn.
    /// Once the commit is being written, its outcome is unknown, and a cancelled task does not wait for it.
    ///
    /// Values that are not passed here come from `EventContext.current`.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - userID: The user's id in your own systems.
    ///   - anonymousID: An id for the user before they are known.
    ///   - sessionID: The session's id.
    ///   - id: The idempotency key. Default: a new UUID of version 7.
    ///   - time: When the event happened. Default: the time in the id, if you pass a UUID of version 7, and otherwise now.
    /// - Throws: `TrackError` with the code `invalid` if the event does not follow the plan; `cancelled` after a cancellation while
    ///   it waited; `closed` while the pipeline shuts down; `notStored` if the journal is full, cannot be written, or its disk does
    ///   not answer; `outcomeUnknown` after a cancellation while the event was being written.
    public func track(
        _ event: some AnalyticsEvent,
        userID: String? = nil,
        anonymousID: String? = nil,
        sessionID: String? = nil,
        id: EventID? = nil,
        time: Timestamp? = nil
    ) async throws(TrackError) {
        let context = EventContext(userID: userID, anonymousID: anonymousID, sessionID: sessionID)
        try await submit(batch(of: event, context: context, id: id, time: time))
    }

    /// Tracks one event without waiting for room or for the journal.
    ///
    /// When it returns, the event is in the queues of its trackers; with a journal it waits for its commit, and if that fails, the
    /// failure is logged.
    ///
    /// - Throws: `TrackError` with the code `invalid` if the event does not follow the plan; `full` if there is no room;
    ///   `notStored` if the journal cannot be written or was full when it was last tried; `closed` while the pipeline shuts down.
    public func tryTrack(
        _ event: some AnalyticsEvent,
        userID: String? = nil,
        anonymousID: String? = nil,
        sessionID: String? = nil,
        id: EventID? = nil,
        time: Timestamp? = nil
    ) throws(TrackError) {
        let context = EventContext(userID: userID, anonymousID: anonymousID, sessionID: sessionID)
        try submitWithoutWaiting(batch(of: event, context: context, id: id, time: time))
    }

    /// Tracks events in their order, up to `maximumEventsABatch` at a time; suspends while there is no room.
    ///
    /// - Returns: The number of events, all of which were accepted.
    /// - Throws: `TrackInterruption` if not all events were accepted; it says how many were.
    @discardableResult
    public func track(
        contentsOf events: some Sequence<some AnalyticsEvent>,
        context: EventContext = EventContext()
    ) async throws(TrackInterruption) -> Int {
        try await track(events, context: context) { builder, event, context throws(InvalidEvent) in
            try builder.append(event, context: context)
        }
    }

    /// Tracks events of several types in their order.
    ///
    /// - Returns: The number of events, all of which were accepted.
    /// - Throws: `TrackInterruption` if not all events were accepted; it says how many were.
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
        var builder = EventBatchBuilder(catalog: catalog, eventTimes: eventTimes, now: now)
        var accepted = 0
        // The events in the builder.
        var pending = 0
        for event in events {
            do throws(InvalidEvent) {
                try append(&builder, event, context)
            } catch {
                accepted += try await submit(&builder, after: accepted)
                throw TrackInterruption(acceptedCount: accepted, reason: .invalid(error))
            }
            pending += 1
            if pending == Self.maximumEventsABatch || builder.byteCount >= Self.maximumBytesABatch {
                accepted += try await submit(&builder, after: accepted)
                pending = 0
            }
        }
        return accepted + (try await submit(&builder, after: accepted))
    }

    /// The maximum number of events that `track(contentsOf:)` puts into one batch: 1,000.
    public static var maximumEventsABatch: Int { 1000 }

    /// The size in bytes at which `track(contentsOf:)` ends a batch that has fewer events.
    private static var maximumBytesABatch: Int { 1 << 20 }

    private func submit(_ builder: inout EventBatchBuilder, after accepted: Int) async throws(TrackInterruption) -> Int
    {
        guard let batch = builder.finish() else { return 0 }
        do throws(TrackError) {
            try await submit(batch)
        } catch {
            throw TrackInterruption(acceptedCount: accepted, reason: error)
        }
        return batch.count
    }

    private func batch(
        of event: some AnalyticsEvent,
        context: EventContext,
        id: EventID?,
        time: Timestamp?
    ) throws(TrackError) -> EventBatch {
        let context = EventContext.current.merging(context)
        let batch: EventBatch?
        do throws(InvalidEvent) {
            batch = try plan.builders.withBuilder { builder throws(InvalidEvent) in
                try builder.append(event, context: context, id: id, time: time)
                return builder.finish()
            }
        } catch {
            throw .invalid(error)
        }
        guard let batch else { preconditionFailure("a builder with an event makes a batch") }
        return batch
    }
}
