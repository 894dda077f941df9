import EventModel

/// One message: an event's canonical line, and what of it is key and header.
///
/// - The value is the line; nothing of it is copied, so a record is valid as long as its batch is.
/// - The key decides the partition: the user, else the anonymous visitor, else the event's own id, so that one person's
///   events stay in order.
/// - The headers are those of CloudEvents 1.0, Kafka binding, binary mode: `ce_specversion`, `ce_id`, `ce_source`,
///   `ce_type` (the event's name), `ce_time` (when it happened) and `content-type`.
/// - The message's own timestamp is the moment of writing, because Kafka's retention goes by it: a replay of last
///   year's events would be deleted at once.
struct KafkaRecord {
    let line: CanonicalLine
    /// Which of the catalog's definitions the event follows.
    let definition: Int
    /// Milliseconds since 1970.
    let timestamp: Int64

    /// Lends the UTF-8 of the key.
    @inline(__always)
    func withKey<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        line.withText(of: line.userID ?? line.anonymousID ?? line.id, body)
    }
}
