import EventModel

/// One Kafka message: an event's canonical line, and the parts of it that become the key and the headers.
///
/// - The value is the line. It is not copied, so a record is valid only as long as its batch.
/// - The key determines the partition. It is the user's id, or else the anonymous id, or else the event's own id, so the events
///   of one person stay in order.
/// - The headers are those of CloudEvents 1.0 (Kafka protocol binding, binary content mode): `ce_specversion`, `ce_id`,
///   `ce_source`, `ce_type` (the event's name), `ce_time` (when the event happened) and `content-type`. If the tracker sends
///   the plan's digest, `ce_sluiceplan` has it; if it sends `traceparent`, a valid one in the event's context becomes a header, too.
/// - The timestamp of the message is the time of writing, not the time of the event, because Kafka's retention uses it: Kafka
///   would delete the replayed events of last year at once.
struct KafkaRecord {
    /// The header with the digest of the plan: an extension attribute of CloudEvents.
    static let planHeader = "ce_sluiceplan"

    let line: CanonicalLine
    /// The index of the event's definition in the catalog.
    let definition: Int
    /// Milliseconds since 1970.
    let timestamp: Int64
    /// The place in the line of the value of the header `traceparent`; `nil` if there is no such header.
    let traceparent: Range<Int>?

    init(line: CanonicalLine, definition: Int, timestamp: Int64, sendsTraceparent: Bool) {
        self.line = line
        self.definition = definition
        self.timestamp = timestamp
        traceparent =
            sendsTraceparent
            ? line.contextText(of: TraceParent.key).flatMap { TraceParent.isValid(line.rawText(of: $0)) ? $0 : nil }
            : nil
    }

    /// Calls `body` with the key as UTF-8.
    @inline(__always)
    func withKey<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        line.withText(of: line.userID ?? line.anonymousID ?? line.id, body)
    }
}
