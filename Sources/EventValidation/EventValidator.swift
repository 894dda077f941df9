@_spi(CanonicalJSON) public import EventModel

/// How a body contains its events.
public struct BodyFormat: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case document, lines
    }

    package let kind: Kind

    /// One JSON document: an event, or an array of events.
    public static let document = Self(kind: .document)
    /// One event per line (NDJSON); empty lines are ignored.
    public static let lines = Self(kind: .lines)
}

/// Checks events that arrive as JSON against a plan, and encodes the valid ones in the canonical form.
///
/// A validator reuses its buffers from body to body and is not safe to share: each thread or event loop needs its own.
///
/// Limits: an event takes at most 1 MiB as it is sent, and nests at most 64 levels; its `userId`, `anonymousId` and `sessionId` take at
/// most 512 bytes each. A body takes less than 2 GiB, and its
/// accepted events at most `EventBatchBuilder.maximumBytes` in canonical form.
public final class EventValidator {
    /// The maximum size of one event as it is sent, in bytes.
    public static let maximumEventBytes = EventLimits.maximumBytes

    // A struct, so that a body costs one check of exclusive access, and not one for each step.
    private var body: BodyCheck

    /// Creates a validator for a plan.
    ///
    /// - Parameters:
    ///   - catalog: The plan.
    ///   - identity: How events without an id get one. Default: `.assigned`.
    ///   - acceptsReceivedAt: Whether events may have the field `receivedAt`, which only events written by Sluice have.
    ///     Default: false.
    ///   - maximumEvents: The maximum number of events in one body; a body with more is refused as a whole, with `too-large`.
    ///     Default: no limit.
    ///   - maximumRejections: The maximum number of rejections in one body; a body with more is refused as a whole, with
    ///     `too-large`. Default: no limit.
    ///   - maximumExplained: The maximum number of rejections in one body with all their reasons, which take at most 256 KiB.
    ///     Further rejections have only the first reason, as long as the rejected events with four bytes for each take at most
    ///     the size of the body and 64 KiB; the rest are only counted. Two bytes can cause a rejection that takes a hundred
    ///     times as much memory, so set both limits if untrusted senders have access. Default: no limit.
    ///   - now: Returns the time of arrival; called once per body. Default: the system's clock.
    public init(
        catalog: EventCatalog,
        identity: EventIdentity = .assigned,
        acceptsReceivedAt: Bool = false,
        maximumEvents: Int = .max,
        maximumRejections: Int = .max,
        maximumExplained: Int = .max,
        now: @escaping () -> Timestamp = Timestamp.now
    ) {
        body = BodyCheck(
            catalog: catalog,
            identity: identity,
            acceptsReceivedAt: acceptsReceivedAt,
            maximumEvents: maximumEvents,
            maximumRejections: maximumRejections,
            maximumExplained: maximumExplained,
            maximumEventBytes: Self.maximumEventBytes,
            maximumIdentifierBytes: IdentifierLimit.maximumBytes,
            maximumBatchBytes: EventBatchBuilder.maximumBytes,
            now: now
        )
    }

    /// Creates a validator with another limit on the bytes of a batch.
    package init(catalog: EventCatalog, maximumBatchBytes: Int) {
        body = BodyCheck(
            catalog: catalog,
            identity: .assigned,
            acceptsReceivedAt: false,
            maximumEvents: .max,
            maximumRejections: .max,
            maximumExplained: .max,
            maximumEventBytes: Self.maximumEventBytes,
            maximumIdentifierBytes: IdentifierLimit.maximumBytes,
            maximumBatchBytes: maximumBatchBytes,
            now: Timestamp.now
        )
    }

    /// Creates a validator for canonical lines that were accepted before, which may be longer than the events as they were sent.
    ///
    /// `identity` decides the ids of lines without one; lines of a journal always have one.
    package init(rereading catalog: EventCatalog, identity: EventIdentity = .assigned) {
        body = BodyCheck(
            catalog: catalog,
            identity: identity,
            acceptsReceivedAt: true,
            maximumEvents: .max,
            maximumRejections: .max,
            maximumExplained: .max,
            maximumEventBytes: .max,
            maximumIdentifierBytes: .max,
            // A batch must be checked as a whole even if its lines became longer.
            maximumBatchBytes: 1 << 30,
            now: Timestamp.now
        )
    }

    /// Sets the number of the next line, counted from 1, which derived ids depend on.
    package func setNextLine(_ line: Int) {
        body.setNextLine(line)
    }

    /// Checks lines with or without the short walk over their structure, which changes only how long it takes; for comparisons.
    package func setUsesStructure(_ usesStructure: Bool) {
        body.usesStructure = usesStructure
    }

    /// The number of events accepted so far by their structure, without a tape.
    package var structuralEvents: Int { body.structuralEvents }

    /// Checks every event of a body.
    ///
    /// A body may begin with the byte order mark of UTF-8. Lines may be split into several bodies at the ends of lines: the line
    /// numbers continue.
    ///
    /// - Throws: `MalformedBody` if a document is not JSON, a body begins with the byte order mark of another encoding, there are too many rejections, or the accepted events take too many
    ///   bytes together; an invalid line is only one rejection. `UncheckedBody` if there is not enough memory.
    public func check(_ body: UnsafeRawBufferPointer, as format: BodyFormat) throws -> CheckedBody {
        try check(text: body.withoutByteOrderMark(), as: format, arrival: nil)
    }

    /// Checks lines that are not the beginning of a text, or are without its byte order mark.
    ///
    /// `arrival` is when the lines arrived, which is the time of events that do not state one; `nil` stands for now.
    ///
    /// - Throws: `MalformedBody` if the lines exceed a limit of the validator, and `UncheckedBody` if there is not enough memory;
    ///   an invalid line is only one rejection.
    package func check(lines: UnsafeRawBufferPointer, arrival: Timestamp? = nil) throws -> CheckedBody {
        try check(text: lines, as: .lines, arrival: arrival)
    }

    private func check(
        text: UnsafeRawBufferPointer,
        as format: BodyFormat,
        arrival: Timestamp?
    ) throws -> CheckedBody {
        var progress = begin(bodyOf: text.count, as: format, arrival: arrival)
        var budget = CheckBudget.unlimited
        _ = try check(text, from: &progress, within: &budget)
        return finish(progress)
    }
}

// MARK: - In turns

extension EventValidator {
    /// Begins the check of a body of this size, in one or more turns.
    ///
    /// One validator can check any number of bodies concurrently, because the returned value holds the state between turns.
    ///
    /// - Parameters:
    ///   - byteCount: The size of the body in bytes; the memory for the result depends on it.
    ///   - format: Whether the body is one document or has one event per line.
    ///   - arrival: When the body arrived; `nil` for now.
    ///   - eventTimes: The times that events may state, relative to their arrival; others are rejected. `nil` for all, because the
    ///     events were accepted before.
    ///   - nullIsAbsent: Whether a `null` counts as an absent property if the plan does not allow it there.
    ///   - allowedEvents: The events that the sender may send; others are rejected. `nil` for all.
    ///   - excess: What happens to a body with more events, or more rejected ones, than it may have. Default: it is refused.
    ///   - additions: What is added to the `context` of each event that does not state it.
    ///   - refusals: What is wrong with events beside what the check finds, by their indexes; these events are rejected.
    /// - Returns: The state before the first turn; `check(_:from:within:)` advances it, and `finish(_:)` takes the result from it.
    package func begin(
        bodyOf byteCount: Int,
        as format: BodyFormat,
        arrival: Timestamp? = nil,
        eventTimes: TimeWindow? = nil,
        nullIsAbsent: Bool = false,
        allowedEvents: EventSet? = nil,
        excess: BodyExcess = .refusesBody,
        additions: ContextAdditions = ContextAdditions(),
        refusals: [Int: [Violation]] = [:]
    ) -> BodyProgress {
        body.begin(
            bodyOf: byteCount,
            as: format,
            arrival: arrival,
            eventTimes: eventTimes,
            nullIsAbsent: nullIsAbsent,
            allowedEvents: allowedEvents,
            excess: excess,
            additions: additions,
            refusals: refusals
        )
    }

    /// Continues the check of a body without a byte order mark; `bytes` must be the same in each turn.
    ///
    /// - Returns: Whether the check is complete.
    /// - Throws: The errors of `check(_:as:)`; then the check cannot be continued.
    package func check(
        _ bytes: UnsafeRawBufferPointer,
        from progress: inout BodyProgress,
        within budget: inout CheckBudget
    ) throws -> Bool {
        try body.check(bytes, from: &progress, within: &budget)
    }

    /// The result of a body whose check is complete.
    package func finish(_ progress: consuming BodyProgress) -> CheckedBody {
        body.finish(progress)
    }
}
