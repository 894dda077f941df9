@_spi(CanonicalJSON) public import EventModel
import EventSchema

/// Checks typed events, and encodes them into a batch.
///
/// It allocates memory for each batch, but not for each event. Not safe to share.
public struct EventBatchBuilder: ~Copyable {
    /// The maximum size of a batch in canonical JSON, in bytes: a commit of the journal takes 64 MiB, with a header of 56 bytes.
    public static let maximumBytes = (64 << 20) - 56

    private let catalog: EventCatalog
    private let now: @Sendable () -> Timestamp
    private let eventTimes: TimeWindow?
    private var encoder: PayloadEncoder
    private var entries: [EventBatch.Entry] = []
    private var ids = EventIDGenerator()
    private var envelopeWriter = EnvelopeWriter()
    private var treatment: LineTreatment
    /// The indexes in this catalog of events of other catalogs that have the same definition here.
    private var equivalents: [ObjectIdentifier: Int] = [:]

    /// Creates a builder without events.
    ///
    /// - Parameters:
    ///   - catalog: The catalog of the batches.
    ///   - now: Returns the time of arrival; called once per event. Default: the system's clock.
    public init(catalog: EventCatalog, now: @escaping @Sendable () -> Timestamp = Timestamp.now) {
        self.init(catalog: catalog, eventTimes: nil, now: now)
    }

    /// Creates a builder without events that accepts events of certain times relative to their arrival; `nil` for all.
    package init(catalog: EventCatalog, eventTimes: TimeWindow?, now: @escaping @Sendable () -> Timestamp) {
        self.catalog = catalog
        self.eventTimes = eventTimes
        self.now = now
        encoder = PayloadEncoder(plan: catalog.compiled)
        treatment = LineTreatment(plan: catalog.compiled)
    }

    /// The number of events so far.
    public var count: Int { entries.count }

    /// The size of the canonical JSON so far, in bytes.
    public var byteCount: Int { encoder.output.count }

    /// Checks an event and appends it.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - context: Who did it, and further context. Default: the context of the current task.
    ///   - id: The idempotency key. Default: a new UUID of version 7.
    ///   - time: When it happened. Default: the time in the id, if you pass a UUID of version 7, and otherwise now.
    /// - Throws: `InvalidEvent` if the event does not follow the plan, or is not in it; the batch is unchanged then.
    public mutating func append(
        _ event: some AnalyticsEvent,
        context: EventContext = .current,
        id: EventID? = nil,
        time: Timestamp? = nil
    ) throws(InvalidEvent) {
        try append(event, context: context, id: id, time: time, receivedAt: now())
    }

    /// Returns the events appended since the last call as a batch; `nil` if there are none.
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
        let times = EventTimes(eventTimes, arrival: receivedAt)
        let ownTime = time ?? id.flatMap(times.time)
        // An event that gets a new id is not tracked again.
        let hasServerTime = ownTime == nil && id != nil
        let id = id ?? ids.next(at: receivedAt)
        let time = ownTime ?? receivedAt
        let start = encoder.output.count
        encoder.reset()
        check(time, within: times)
        let tables = encoder.plan.tables
        envelopeWriter.append(
            id: id,
            of: tables.events[index],
            time: time,
            receivedAt: receivedAt,
            keys: tables.keys,
            to: &encoder.output
        )
        encoder.encode(context)
        encoder.output.appendPadded(tables.keys.payload.bytes)
        encoder.encodePayload(event, as: tables.events[index].payload)
        if hasServerTime { encoder.output.append(ServerTime.member) }
        encoder.output.append("}\n")
        if encoder.violations.isEmpty, needsTreatment(index, context) {
            encoder.violations = treatment.treat(from: start, in: &encoder.output)
        }
        let end = encoder.output.count
        // The newline belongs to the batch, and not to the event.
        let length = end - 1 - start
        if !encoder.violations.isEmpty || length > EventValidator.maximumEventBytes || end > Self.maximumBytes {
            throw discard(from: start, length: length, index: index)
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

    private mutating func check(_ time: Timestamp, within times: EventTimes) {
        guard !times.accepts(time) else { return }
        let problem = times.problem(with: time)
        encoder.violations.append(
            Violation(
                code: .timeOutOfRange,
                path: "$.time",
                expected: problem.expected,
                found: problem.found
            )
        )
    }

    /// Whether the plan protects a value that the event may have.
    private func needsTreatment(_ index: Int, _ context: borrowing EventContext) -> Bool {
        let sensitive = encoder.plan.tables.sensitive
        if !sensitive.payload(of: index).isEmpty { return true }
        return !sensitive.context.isEmpty && !context.attributes.isEmpty
    }

    /// Removes the last event, and says why it is invalid.
    @inline(never)
    private mutating func discard(from start: Int, length: Int, index: Int) -> InvalidEvent {
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

    /// The index in this catalog of an event of another catalog.
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
    /// Hands over the encoded bytes, and continues with room for slightly more.
    fileprivate mutating func release() -> UnsafeRawBufferPointer {
        let count = output.count
        var finished = ByteBuilder(capacity: count + count / 8 + 64)
        swap(&finished, &output)
        return finished.release()
    }
}
