/// The result of checking a body: a batch of the accepted events, and the rejected ones with their reasons.
public struct CheckedBody: Sendable {
    /// The accepted events; `nil` if there are none.
    public let batch: EventBatch?
    /// The rejected events in their order: all of them, unless the validator limits how many it explains.
    public let rejections: [Rejection]
    /// The number of `rejections`, counted from the first, that have all their reasons; the others have only the first one.
    public let explainedCount: Int
    /// All rejected events, including those that are not in `rejections`.
    public let rejected: RejectionTally
    /// The approximate number of bytes that the quarantine stores for `rejections`; in memory they take about twice as many.
    package let keptBytes: Int

    /// The number of events in the body.
    public var count: Int { (batch?.count ?? 0) + rejected.count }
}

/// A body that is refused as a whole.
///
/// It is not JSON, too many of its events are invalid, or the accepted ones take more bytes than a batch may.
public struct MalformedBody: Error, Sendable, CustomStringConvertible {
    /// What is wrong with the body.
    public let violation: Violation
    /// How many of its events were checked before it was refused.
    package let checkedEvents: Int

    /// For example `text in UTF-8 is expected, and the byte order mark of UTF-16 was found [malformed-json]`.
    public var description: String {
        "\(violation.expected) is expected, and \(violation.found) was found [\(violation.code)]"
    }

    package init(violation: Violation, checkedEvents: Int = 0) {
        self.violation = violation
        self.checkedEvents = checkedEvents
    }
}

/// A body that could not be checked, because there was not enough memory; it says nothing about the events.
public struct UncheckedBody: Error, Sendable, CustomStringConvertible {
    /// Always true: the same body can be checked later.
    public var isRetryable: Bool { true }

    /// A sentence for the operator.
    public var description: String { "There was not enough memory to check events. [no-memory]" }
}
