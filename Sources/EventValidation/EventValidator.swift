public import EventModel

/// How the events stand in a body.
public enum BodyFormat: Sendable, Hashable {
    /// One JSON document: an event, or an array of events.
    case document
    /// One event a line (NDJSON); empty lines do not count.
    case lines
}

/// What checking a body gave: the events that follow the plan, and which of the others were rejected for what.
public struct CheckedBody: Sendable {
    /// The accepted events; `nil` where there are none.
    public let batch: EventBatch?
    /// The others, in their order: all of them, unless the validator limits how many it explains.
    public let rejections: [Rejection]
    /// How many of `rejections`, from the first on, have every reason; the others have the first reason only.
    public let explainedCount: Int
    /// All events that were rejected, whether or not they are in `rejections`.
    public let rejected: RejectionTally
    /// About how many bytes the quarantine takes for `rejections`; in memory they take about twice as many.
    package let keptBytes: Int

    /// How many events the body held.
    public var count: Int { (batch?.count ?? 0) + rejected.count }
}

/// A body that is refused as a whole: it is not JSON, too many of its events do not follow the plan, or those that do take more
/// bytes than a batch.
public struct MalformedBody: Error, Sendable {
    /// What is wrong with it.
    public let violation: Violation
}

/// A body that could not be checked because there was no memory for it: nothing is said about its events.
public struct UncheckedBody: Error, Sendable, CustomStringConvertible {
    /// Whether the same body may be checked later without anybody's doing.
    public var isRetryable: Bool { true }

    /// One sentence for the operator.
    public var description: String { "There was no memory to check events. [no-memory]" }
}

/// Checks events against a plan and encodes the good ones, in one walk over simdjson's tape.
///
/// A validator keeps its buffers from body to body and is not safe to share: each thread or event loop has its own.
///
/// Its limits: an event takes at most 1 MiB as it is sent and nests at most 64 levels; a body takes less than 2 GiB, and its
/// accepted events at most `EventBatchBuilder.maximumBytes` in canonical form.
public final class EventValidator {
    /// The most bytes one event may take as it is sent.
    public static let maximumEventBytes = 1 << 20

    // One struct, so that a body costs one check of exclusive access and not one for every step.
    private var body: BodyCheck

    /// Makes a validator for a plan.
    ///
    /// - Parameters:
    ///   - catalog: The plan.
    ///   - identity: Where ids come from that events do not bring.
    ///   - acceptsReceivedAt: Whether an event may bring its `receivedAt`, as one does that comes back out of Sluice.
    ///   - maximumRejections: The most rejections of one body; a body with more is refused as a whole, with `too-large`.
    ///   - maximumExplained: The most rejections of one body that are explained in full; their reasons take at most 256 KiB.
    ///     Others get their first reason as long as the rejected events, with four bytes for each, take at most the size of
    ///     the body and 64 KiB; the rest is only counted. A rejection takes a hundred times the memory of the two bytes that
    ///     can cause it, so set both limits where anybody may send. Default: no limit.
    ///   - now: Tells the time of arrival; asked once a body.
    public init(
        catalog: EventCatalog,
        identity: EventIdentity = .assigned,
        acceptsReceivedAt: Bool = false,
        maximumRejections: Int = .max,
        maximumExplained: Int = .max,
        now: @escaping () -> Timestamp = Timestamp.now
    ) {
        body = BodyCheck(
            catalog: catalog,
            identity: identity,
            acceptsReceivedAt: acceptsReceivedAt,
            maximumRejections: maximumRejections,
            maximumExplained: maximumExplained,
            maximumEventBytes: Self.maximumEventBytes,
            maximumBatchBytes: EventBatchBuilder.maximumBytes,
            now: now
        )
    }

    /// A validator with another limit for the bytes of a batch.
    package init(catalog: EventCatalog, maximumBatchBytes: Int) {
        body = BodyCheck(
            catalog: catalog,
            identity: .assigned,
            acceptsReceivedAt: false,
            maximumRejections: .max,
            maximumExplained: .max,
            maximumEventBytes: Self.maximumEventBytes,
            maximumBatchBytes: maximumBatchBytes,
            now: Timestamp.now
        )
    }

    /// A validator of canonical lines that were accepted before, which may be longer than they were as they were sent.
    package init(rereading catalog: EventCatalog) {
        body = BodyCheck(
            catalog: catalog,
            identity: .assigned,
            acceptsReceivedAt: true,
            maximumRejections: .max,
            maximumExplained: .max,
            maximumEventBytes: .max,
            // What was one batch is checked whole, should its lines have become longer.
            maximumBatchBytes: 1 << 30,
            now: Timestamp.now
        )
    }

    /// Lets the next line count as this one, counted from 1, by which ids are derived.
    package func setNextLine(_ line: Int) {
        body.setNextLine(line)
    }

    /// Checks every event of a body.
    ///
    /// Lines may come in several bodies, cut at the ends of lines: their numbers go on.
    /// - Throws: `MalformedBody` where a document is no JSON, and where there are too many rejections, or the accepted events
    ///   take too many bytes together; a broken line is one rejection. `UncheckedBody`, and nothing else, where there was no memory for it.
    public func check(_ body: UnsafeRawBufferPointer, as format: BodyFormat) throws -> CheckedBody {
        var progress = begin(bodyOf: body.count, as: format)
        var budget = CheckBudget.unlimited
        _ = try check(body, from: &progress, within: &budget)
        return finish(progress)
    }
}

// MARK: - In turns

/// What one turn of a check may take.
package struct CheckBudget: Sendable, Hashable {
    /// Bytes of the body.
    ///
    /// Checked event by event, so a turn may exceed it by one event, or by one piece of 64 KiB.
    package var bytes: Int
    /// Rejected events.
    package var rejections: Int

    /// Whether nothing more may be done.
    package var isSpent: Bool { bytes <= 0 || rejections <= 0 }

    /// States what a turn may take.
    package init(bytes: Int, rejections: Int) {
        self.bytes = bytes
        self.rejections = rejections
    }

    static let unlimited = CheckBudget(bytes: .max, rejections: .max)
}

extension EventValidator {
    /// Begins with a body of so many bytes, which is checked in one or more turns.
    ///
    /// What is kept between turns is in the returned value, so that one validator can be in the middle of any number of
    /// bodies.
    package func begin(bodyOf byteCount: Int, as format: BodyFormat) -> BodyProgress {
        body.begin(bodyOf: byteCount, as: format)
    }

    /// Continues with a body; `bytes` are the same at each turn.
    ///
    /// - Returns: Whether the body is checked to its end.
    /// - Throws: As `check(_:as:)`; then there is nothing to continue with.
    package func check(
        _ bytes: UnsafeRawBufferPointer,
        from progress: inout BodyProgress,
        within budget: inout CheckBudget
    ) throws -> Bool {
        try body.check(bytes, from: &progress, within: &budget)
    }

    /// The result of a body that is checked to its end.
    package func finish(_ progress: consuming BodyProgress) -> CheckedBody {
        body.finish(progress)
    }
}
