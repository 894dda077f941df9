public import EventModel

/// How the events stand in a body.
public enum BodyFormat: Sendable, Hashable {
    /// One JSON document: an event, or an array of events.
    case document
    /// One event a line (NDJSON); empty lines do not count.
    case lines
}

/// What checking a body gave: the events that follow the plan, and a rejection for each that does not.
public struct CheckedBody: Sendable {
    /// The accepted events; `nil` where there are none.
    public let batch: EventBatch?
    /// The others, in their order.
    public let rejections: [Rejection]

    /// How many events the body held.
    public var count: Int { (batch?.count ?? 0) + rejections.count }

    /// States what a check gave.
    public init(batch: EventBatch?, rejections: [Rejection]) {
        self.batch = batch
        self.rejections = rejections
    }
}

/// A body that is refused as a whole: it is not JSON, or too many of its events do not follow the plan.
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
/// Its limits: an event takes at most 1 MiB as it is sent and nests at most 64 levels; a body takes less than 2 GiB.
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
    ///   - maximumRejections: Past so many rejections a body is refused as a whole, with `too-large`. A rejection takes
    ///     a hundred times the memory of the two bytes that can cause it, so whoever takes bodies from anybody sets it.
    ///   - now: Tells the time of arrival; asked once a body.
    public init(
        catalog: EventCatalog,
        identity: EventIdentity = .assigned,
        acceptsReceivedAt: Bool = false,
        maximumRejections: Int = .max,
        now: @escaping () -> Timestamp = Timestamp.now
    ) {
        body = BodyCheck(
            catalog: catalog,
            identity: identity,
            acceptsReceivedAt: acceptsReceivedAt,
            maximumRejections: maximumRejections,
            maximumEventBytes: Self.maximumEventBytes,
            now: now
        )
    }

    /// A validator of canonical lines that were accepted before, which may be longer than they were as they were sent.
    package init(rereading catalog: EventCatalog) {
        body = BodyCheck(
            catalog: catalog,
            identity: .assigned,
            acceptsReceivedAt: true,
            maximumRejections: .max,
            maximumEventBytes: .max,
            now: Timestamp.now
        )
    }

    /// Lets the next line count as this one, counted from 1, by which ids are derived.
    package func goOn(atLine line: Int) {
        body.goOn(atLine: line)
    }

    /// Checks every event of a body.
    ///
    /// Lines may come in several bodies, cut at the ends of lines: their numbers go on.
    /// - Throws: `MalformedBody` where a document is no JSON, and where there are too many rejections; a broken line is
    ///   one rejection. `UncheckedBody`, and nothing else, where there was no memory for it.
    public func check(_ body: UnsafeRawBufferPointer, as format: BodyFormat) throws -> CheckedBody {
        try self.body.check(body, as: format)
    }
}
