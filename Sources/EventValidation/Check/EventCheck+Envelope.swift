@_spi(CanonicalJSON) import EventModel
@_spi(CanonicalJSON) import JSONTape

extension EventCheck {
    /// What is known about an event after its check, whether it is accepted or not.
    struct Result {
        var id: EventID?
        var time: Timestamp?
        var definitionIndex = -1
        /// Whether another attempt to send the event could get another time.
        var hasServerTime = false
    }

    /// The id and the times that an event states; `nil` for those that it does not state, or that are invalid.
    struct Stated {
        var id: EventID?
        var time: Timestamp?
        /// When it arrived; if it does not state that, now.
        var receivedAt: Timestamp?
        /// Whether it states that another attempt of its sender could state another time.
        var isMarked = false
    }

    /// Checks the event at `index` and appends its canonical line.
    ///
    /// An event without an id gets the one that `makeID` returns. If `firstCode` is set afterwards, nothing was appended.
    mutating func check(
        at index: Int,
        into output: inout ByteBuilder,
        makeID: (Timestamp?) -> EventID
    ) -> Result {
        path.reset()
        if !violations.isEmpty { violations = [] }
        firstCode = nil
        if !refusals.isEmpty { reportRefusals() }
        envelope.reset()
        depth = 1
        guard tape.kind(at: index) == .object else {
            report(.wrongType, expected: "an object with a name", found: kindName(at: index))
            return Result()
        }
        readEnvelope(at: index)
        let definitionIndex = findDefinition(envelope.name)
        let stated = readStated()
        var result = decide(stated, definitionIndex: definitionIndex)
        if envelope.id == 0 { result.id = makeID(stated.time) }

        let start = output.count
        encode(result, receivedAt: stated.receivedAt ?? arrival, into: &output)
        if firstCode != nil { output.count = start }
        return result
    }

    /// Decides the time of an event from what it states.
    ///
    /// An event without an id has none in the result yet.
    func decide(_ stated: Stated, definitionIndex: Int) -> Result {
        var result = Result(id: stated.id, definitionIndex: definitionIndex)
        if let time = stated.time {
            result.time = time
            // An event that gets a new id has no other attempt.
            result.hasServerTime = stated.isMarked && envelope.id != 0
        } else if let time = stated.id.flatMap(times.time) {
            result.time = time
        } else {
            result.time = stated.receivedAt
            result.hasServerTime = envelope.id != 0 || repeatsIDs
        }
        return result
    }

    private mutating func readStated() -> Stated {
        var stated = Stated(receivedAt: arrival)
        if envelope.id != 0 { stated.id = readID(at: envelope.id) }
        if envelope.time != 0 { stated.time = readTime(at: envelope.time, field: "time") }
        if let time = stated.time, !times.accepts(time) { reportRange(of: time) }
        if envelope.receivedAt != 0 { stated.receivedAt = readTime(at: envelope.receivedAt, field: "receivedAt") }
        if envelope.serverTime != 0 { stated.isMarked = readServerTime() }
        return stated
    }

    /// Whether another attempt of the sender to send the event could state another time.
    private mutating func readServerTime() -> Bool {
        switch tape.kind(at: envelope.serverTime) {
        case .true: return true
        case .false: return false
        default:
            let found = kindName(at: envelope.serverTime)
            report(.wrongType, at: .field("serverTime"), expected: "boolean", found: found)
            return false
        }
    }

    private mutating func readEnvelope(at index: Int) {
        let contents = tape.contents(of: index)
        var member = contents.lowerBound
        var position = 0
        while member < contents.upperBound {
            let key = tape.string(at: member)
            let value = member + 1
            member = tape.end(of: value)
            let guess = envelope.guess(at: position)
            let field = tables.fields.ordinal(of: key, guess: guess)
            if field != guess, field >= 0 { envelope.learn(field, at: position) }
            position += 1
            guard field >= 0, acceptsReceivedAt || field != EnvelopeFields.receivedAtOrdinal else {
                if isDescribed(.unknownField) {
                    let expected = "one of \(Self.fieldNames)"
                    report(.unknownField, at: .key(key), expected: expected, found: kindName(at: value))
                }
                continue
            }
            if !envelope.set(field, value) {
                report(.malformedJSON, at: .key(key), expected: "each key once", found: "the key again")
            }
        }
    }

    private static let fieldNames = CompiledPlan.fieldNames.enumerated()
        .compactMap { $0.offset == EnvelopeFields.receivedAtOrdinal ? nil : $0.element }.joined(separator: ", ")

    private mutating func findDefinition(_ index: Int) -> Int {
        guard index != 0 else {
            report(.missingRequired, at: .field("name"), expected: "the event's name", found: "nothing")
            return -1
        }
        guard tape.kind(at: index) == .string else {
            report(.wrongType, at: .field("name"), expected: "string", found: kindName(at: index))
            return -1
        }
        let ordinal = tables.names.ordinal(of: tape.string(at: index), guess: lastDefinition)
        if ordinal >= 0 {
            lastDefinition = ordinal
            if !isAllowed(ordinal) {
                let expected = "an event that the write key may send"
                report(.forbiddenEvent, at: .field("name"), expected: expected, found: "another event of the plan")
                return -1
            }
        } else if isDescribed(.unknownEvent) {
            let expected = expectedName(near: index)
            report(.unknownEvent, at: .field("name"), expected: expected, found: "an unknown name")
        }
        return ordinal
    }

    /// Whether the sender may send the event with this definition.
    func isAllowed(_ definitionIndex: Int) -> Bool { allowedEvents?.contains(definitionIndex) ?? true }

    private func expectedName(near index: Int) -> String {
        // The sender need not know the names of events that it may not send.
        let near = tables.suggestions.suggestion(for: tape.string(at: index)) { [allowedEvents] ordinal in
            allowedEvents?.contains(ordinal) ?? true
        }
        guard let near else {
            return "an event of the plan"
        }
        return "an event of the plan; did you mean '\(near)'?"
    }

    private mutating func readID(at index: Int) -> EventID? {
        guard tape.kind(at: index) == .string else {
            report(.invalidID, at: .field("id"), expected: "a UUID (RFC 9562)", found: kindName(at: index))
            return nil
        }
        guard let id = EventID(text: tape.string(at: index)) else {
            report(.invalidID, at: .field("id"), expected: "a UUID (RFC 9562)", found: "another string")
            return nil
        }
        return id
    }

    private mutating func readTime(at index: Int, field: StaticString) -> Timestamp? {
        guard tape.kind(at: index) == .string else {
            report(.invalidTime, at: .field(field), expected: "an RFC 3339 date-time", found: kindName(at: index))
            return nil
        }
        guard let time = timeReader.read(tape.string(at: index)) else {
            report(.invalidTime, at: .field(field), expected: "an RFC 3339 date-time", found: "another string")
            return nil
        }
        return time
    }

    @inline(never)
    private mutating func reportRange(of time: Timestamp) {
        guard isDescribed(.timeOutOfRange) else { return }
        let problem = times.problem(with: time)
        report(.timeOutOfRange, at: .field("time"), expected: problem.expected, found: problem.found)
    }

    private mutating func encode(_ result: Result, receivedAt: Timestamp, into output: inout ByteBuilder) {
        guard result.definitionIndex >= 0 else {
            // The payload cannot be checked without a definition, but all violations in the envelope are reported.
            return encodePeopleAndContext(into: &output)
        }
        let event = tables.events[result.definitionIndex]
        envelopeWriter.append(
            // An event with an invalid id is rejected, so it needs none.
            id: result.id,
            of: event,
            time: result.time ?? receivedAt,
            receivedAt: receivedAt,
            keys: tables.keys,
            to: &output
        )
        encodePeopleAndContext(into: &output)
        output.appendPadded(tables.keys.payload.bytes)
        encodePayload(envelope.payload, of: event, definitionIndex: result.definitionIndex, into: &output)
        if result.hasServerTime { output.append(ServerTime.member) }
        output.append("}\n")
    }

    private mutating func encodePeopleAndContext(into output: inout ByteBuilder) {
        encodeText(envelope.userID, field: "userId", key: tables.keys.userID, into: &output)
        encodeText(envelope.anonymousID, field: "anonymousId", key: tables.keys.anonymousID, into: &output)
        encodeText(envelope.sessionID, field: "sessionId", key: tables.keys.sessionID, into: &output)
        encodeContext(envelope.context, into: &output)
    }

    @inline(__always)
    private mutating func encodeText(
        _ index: Int,
        field: StaticString,
        key: ByteTable.Name,
        into output: inout ByteBuilder
    ) {
        guard index != 0 else { return }
        path.push(.field(field))
        if tape.kind(at: index) == .string {
            output.appendPadded(key.bytes)
            encodeString(at: index, into: &output)
            if tape.string(at: index).count > maximumIdentifierBytes { reportIdentifier() }
        } else {
            report(.wrongType, expected: "string", found: kindName(at: index))
        }
        path.pop()
    }

    @inline(never)
    private mutating func reportIdentifier() {
        report(.identifierTooLong, expected: IdentifierLimit.expected, found: "more")
    }

    /// Appends the `context` at `index` of the tape, with what the server adds to it; 0 if the event has none.
    mutating func encodeContext(_ index: Int, into output: inout ByteBuilder) {
        let isTreated = !sensitive.context.isEmpty || !additions.isEmpty
        guard index != 0 || isTreated else { return }
        path.push(.field("context"))
        if isTreated, index == 0 || tape.kind(at: index) == .object {
            encodeTreatedContext(at: index, into: &output)
        } else if tape.kind(at: index) == .object {
            output.appendPadded(tables.keys.context.bytes)
            encodePresentMembers(ofObjectAt: index, into: &output)
        } else {
            report(.wrongType, expected: "object", found: kindName(at: index))
        }
        path.pop()
    }

    private mutating func encodePayload(
        _ index: Int,
        of event: CompiledPlan.Event,
        definitionIndex: Int,
        into output: inout ByteBuilder
    ) {
        path.push(.field("payload"))
        if index == 0, event.requiredProperties == 0 {
            output.append("{}")
        } else if index == 0 {
            let location = plan.objectLocations[tables.objects[event.payload].index]
            report(.missingRequired, expected: "object", found: "nothing", location: location)
        } else if tape.kind(at: index) == .object {
            encodeObject(at: index, as: event.payload, into: &output)
        } else {
            report(.wrongType, expected: "object", found: kindName(at: index))
        }
        path.pop()
    }
}

extension ViolationPath.Step {
    /// A field of the envelope.
    static func field(_ name: StaticString) -> Self {
        .key(UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    }
}
