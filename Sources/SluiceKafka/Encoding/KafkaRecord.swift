import EventModel

/// One message: an event's canonical line, and the parts of it that are the key and the headers.
///
/// - The value is the line, which is not copied, so a record is valid only while its batch is.
/// - The key decides the partition: the user's id, else the anonymous id, else the event's own id. So the events of one
///   person stay in order.
/// - The headers are those of CloudEvents 1.0, Kafka binding, binary mode: `ce_specversion`, `ce_id`, `ce_source`,
///   `ce_type` (the event's name), `ce_time` (when it happened) and `content-type`; and `traceparent`, if that is wanted and the event's
///   context has a valid one.
/// - The message's timestamp is the time of writing, because Kafka's retention depends on it: in a replay of last year's
///   events, Kafka would delete them at once.
struct KafkaRecord {
    let line: CanonicalLine
    /// The index of the event's definition in the catalog.
    let definition: Int
    /// Milliseconds since 1970.
    let timestamp: Int64
    /// Where the line has the value of the header `traceparent`; `nil` for no such header.
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

    /// Calls `body` with the UTF-8 of the key.
    @inline(__always)
    func withKey<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        line.withText(of: line.userID ?? line.anonymousID ?? line.id, body)
    }
}
