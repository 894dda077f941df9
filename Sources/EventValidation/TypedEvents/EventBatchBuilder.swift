public import EventModel
import EventSchema
import JSONTape

/// Checks typed events, and encodes them into one batch.
///
/// In steady state it allocates memory for each batch, not for each event. Not safe to share.
public struct EventBatchBuilder: ~Copyable {
    /// The most bytes of canonical JSON that one batch holds, however it is made: what the journal takes in one commit, which is
    /// 64 MiB with 56 bytes of its own.
    public static let maximumBytes = (64 << 20) - 56

    private let catalog: EventCatalog
    private let now: @Sendable () -> Timestamp
    private var encoder: PayloadEncoder
    private var entries: [EventBatch.Entry] = []
    private var ids = EventIDGenerator()
    private var times = TimestampWriter()
    private var arrivalTimes = TimestampWriter()
    /// The places of events of other catalogs that this one defines in the same way.
    private var equivalents: [ObjectIdentifier: Int] = [:]

    /// Begins with no events; `now` tells when an event is appended.
    public init(catalog: EventCatalog, now: @escaping @Sendable () -> Timestamp = Timestamp.now) {
        self.catalog = catalog
        self.now = now
        encoder = PayloadEncoder(plan: catalog.compiled)
    }

    /// How many events the batch has so far.
    public var count: Int { entries.count }

    /// How many bytes of canonical JSON it has so far.
    public var byteCount: Int { encoder.output.count }

    /// Checks an event and appends it.
    ///
    /// - Parameters:
    ///   - event: What happened.
    ///   - context: Who did it, and around what. Default: that of the task.
    ///   - id: What makes a repetition recognisable. Default: a new UUID of version 7.
    ///   - time: When it happened. Default: now.
    /// - Throws: `InvalidEvent` where it does not follow the plan, or is of another one; the batch is as it was then.
    public mutating func append(
        _ event: some AnalyticsEvent,
        context: EventContext = .current,
        id: EventID? = nil,
        time: Timestamp? = nil
    ) throws(InvalidEvent) {
        try append(event, context: context, id: id, time: time, receivedAt: now())
    }

    /// The events appended since the last time as a batch; `nil` where there are none.
    public mutating func finish() -> EventBatch? {
        guard !entries.isEmpty else { return nil }
        let finished = entries
        entries = []
        entries.reserveCapacity(finished.count)
        return EventBatch(catalog: catalog, entries: finished, adopting: encoder.release())
    }

    mutating func append<Event: AnalyticsEvent>(
        _ event: Event,
        context: borrowing EventContext,
        id: EventID?,
        time: Timestamp?,
        receivedAt: Timestamp
    ) throws(InvalidEvent) {
        let index = Event.catalog === catalog ? Event.definitionIndex : try equivalent(of: Event.self)
        guard catalog.definitions.indices.contains(index) else { throw Self.unknown(Event.self) }
        let id = id ?? ids.next(at: receivedAt)
        let time = time ?? receivedAt
        let start = encoder.output.count
        encoder.reset()
        encodeHead(id: id, of: index, time: time, receivedAt: receivedAt)
        encoder.encode(context)
        encoder.output.appendPadded(encoder.plan.tables.keys.payload.bytes)
        encoder.encodePayload(event, as: encoder.plan.tables.events[index].payload)
        encoder.output.append("}\n")
        let end = encoder.output.count
        // The newline behind the event is the batch's.
        let length = end - 1 - start
        if !encoder.violations.isEmpty || length > EventValidator.maximumEventBytes || end > Self.maximumBytes {
            throw takeBack(from: start, length: length, index: index)
        }
        entries.append(
            EventBatch.Entry(
                id: id,
                time: time,
                definitionIndex: UInt32(truncatingIfNeeded: index),
                end: UInt32(truncatingIfNeeded: end)
            )
        )
    }

    @inline(__always)
    private mutating func encodeHead(id: EventID, of index: Int, time: Timestamp, receivedAt: Timestamp) {
        let tables = encoder.plan.tables
        let event = tables.events[index]
        encoder.output.reserve(event.nameAndTimeKey.count + 192)
        encoder.output.appendPadded(tables.keys.id.bytes)
        id.write(to: encoder.output.end)
        encoder.output.count += EventID.textLength
        encoder.output.appendPadded(event.nameAndTimeKey.bytes)
        encoder.output.count += times.write(time, to: encoder.output.end)
        encoder.output.appendPadded(tables.keys.receivedAt.bytes)
        // Mostly it is the moment that was just written.
        if receivedAt == time {
            encoder.output.count += times.write(time, to: encoder.output.end)
        } else {
            encoder.output.count += arrivalTimes.write(receivedAt, to: encoder.output.end)
        }
        encoder.output.append(UInt8(ascii: "\""))
    }

    @inline(never)
    private mutating func takeBack(from start: Int, length: Int, index: Int) -> InvalidEvent {
        var violations = encoder.violations
        if violations.isEmpty {
            let isEvent = length > EventValidator.maximumEventBytes
            violations = [
                Violation(
                    code: .tooLarge,
                    path: "$",
                    expected: isEvent
                        ? "an event of at most \(EventValidator.maximumEventBytes) bytes"
                        : "a batch of at most \(Self.maximumBytes) bytes",
                    found: "more"
                )
            ]
        }
        encoder.output.count = start
        return InvalidEvent(name: catalog.definitions[index].name, violations: violations)
    }

    /// The place of an event of another catalog in this one.
    private mutating func equivalent<Event: AnalyticsEvent>(of type: Event.Type) throws(InvalidEvent) -> Int {
        if let known = equivalents[ObjectIdentifier(type)] { return known }
        let definitions = Event.catalog.definitions
        guard definitions.indices.contains(Event.definitionIndex) else { throw Self.unknown(type) }
        let definition = definitions[Event.definitionIndex]
        guard let index = catalog.definitions.firstIndex(where: { $0.hasSamePayload(as: definition) }) else {
            throw Self.unknown(type, name: definition.name, location: definition.location)
        }
        equivalents[ObjectIdentifier(type)] = index
        return index
    }

    private static func unknown<Event: AnalyticsEvent>(
        _ type: Event.Type,
        name: String? = nil,
        location: PlanLocation? = nil
    ) -> InvalidEvent {
        let violation = Violation(
            code: .unknownEvent,
            path: "$.name",
            expected: "an event as the pipeline's catalog defines it",
            found: "one of another catalog",
            location: location
        )
        return InvalidEvent(name: name ?? "\(type)", violations: [violation])
    }
}

extension PayloadEncoder {
    /// Hands over what was encoded, and begins with room for about as much again.
    fileprivate mutating func release() -> UnsafeRawBufferPointer {
        let count = output.count
        var finished = ByteBuilder(capacity: count + count / 8 + 64)
        swap(&finished, &output)
        return finished.release()
    }
}
