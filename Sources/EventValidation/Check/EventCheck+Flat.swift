@_spi(CanonicalJSON) import EventModel
import EventSchema
@_spi(CanonicalJSON) import JSONTape

/// The short walk, a fast path for the common event: it reads the structure of a line, and needs no tape.
///
/// It accepts an event without escapes whose payload has only strings, numbers in their canonical form, and Booleans, if nothing is
/// wrong with it; most of its bytes are copied. It explains nothing: whatever it does not understand goes to the walk over the
/// tape, and so does every event that breaks a rule. Both walks must agree to the byte on each event that this one accepts.
///
/// The rules for values are the same code for both walks: `ValueRules`, and the functions that encode a text by its type. Here, a
/// broken rule only sets `firstCode`, because no violation is wanted.
///
/// In the structure, a member takes four places: key, colon, value, and the comma or bracket after it. A value with brackets
/// takes more: then what follows is not a separator, or the value does not begin as the wanted one does.
extension EventCheck {
    /// Whether events of the body may be checked by this walk: it knows nothing of refusals.
    var mayBeFlat: Bool { tables.hasFlatEvents && refusals.isEmpty }

    /// Checks the event in a line and appends its canonical line; `nil`, with no trace, if the other walk has to check it.
    ///
    /// `places` becomes the number of places that an accepted event takes.
    mutating func checkFlat(
        _ line: JSONLineStructure,
        places: inout Int,
        into output: inout ByteBuilder,
        makeID: (Timestamp?) -> EventID
    ) -> Result? {
        let (start, wantedViolations) = (output.count, maximumViolations)
        maximumViolations = 0
        firstCode = nil
        path.reset()
        defer {
            maximumViolations = wantedViolations
            slots.removeAll()
        }
        guard
            let payload = readFlatEnvelope(line, places: &places), firstCode == nil,
            let stated = readFlatStated(line)
        else { return nil }
        var result = decide(stated, definitionIndex: payload.definitionIndex)
        guard
            encodeFlat(result, payload, line, receivedAt: stated.receivedAt ?? arrival, into: &output),
            firstCode == nil
        else {
            output.count = start
            return nil
        }
        if envelope.id == 0 {
            // An id is made once, so only when the event is accepted.
            let id = makeID(stated.time)
            result.id = id
            EnvelopeWriter.insert(id, intoLineAt: start, keys: tables.keys, of: &output)
        }
        return result
    }
}

// MARK: - Envelope

extension EventCheck {
    /// Finds the fields, and checks the payload; `nil` if the line is not an object of known fields that ends with the line.
    private mutating func readFlatEnvelope(_ line: JSONLineStructure, places: inout Int) -> FlatPayload? {
        guard line.byte(at: 0) == UInt8(ascii: "{") else { return nil }
        envelope.reset()
        var payload: FlatPayload?
        var (place, position) = (1, 0)
        while true {
            let field = ordinal(ofFlatFieldAt: place, of: line, guess: envelope.guess(at: position))
            guard
                field >= 0, acceptsReceivedAt || field != EnvelopeFields.receivedAtOrdinal,
                keepsContext || field != EnvelopeFields.contextOrdinal, envelope.set(field, place &+ 2)
            else { return nil }
            envelope.learn(field, at: position)
            position &+= 1
            if field == EnvelopeFields.payloadOrdinal, envelope.name != 0 {
                payload = checkFlatPayload(line)
                guard let payload else { return nil }
                place = payload.end
            } else {
                place = line.end(ofValueAt: place &+ 2)
            }
            let separator = line.byte(at: place)
            place &+= 1
            if separator == UInt8(ascii: ",") { continue }
            guard separator == UInt8(ascii: "}"), line.ends(before: place) else { return nil }
            places = place
            return payload ?? checkFlatPayload(line)
        }
    }

    /// The ordinal of the field whose key is at a place, or -1.
    @inline(__always)
    private func ordinal(ofFlatFieldAt place: Int, of line: JSONLineStructure, guess: Int) -> Int {
        guard !isFlatKey(tables.quotedFields[guess].bytes, at: place, of: line) else { return guess }
        return line.key(at: place).map { tables.fields.ordinal(of: $0) } ?? -1
    }

    /// Whether a key with its quotation marks and its colon is at a place.
    ///
    /// Unless it is, the comparison ends at the quotation mark or colon behind the line's key at the latest, so it reads at most
    /// 8 bytes behind the line.
    @inline(__always)
    private func isFlatKey(_ key: UnsafeRawBufferPointer, at place: Int, of line: JSONLineStructure) -> Bool {
        guard let start = line.bytes(from: place), let key = key.baseAddress.map({ ($0, key.count) }) else {
            return false
        }
        return ByteTable.areEqual(key.0, start, key.1)
    }

    /// The stated id and times; `nil` if one of them is invalid.
    private mutating func readFlatStated(_ line: JSONLineStructure) -> Stated? {
        var stated = Stated(receivedAt: arrival)
        if envelope.id != 0 {
            guard let id = line.string(at: envelope.id).flatMap({ EventID(text: $0) }) else { return nil }
            stated.id = id
        }
        if envelope.time != 0 {
            guard let text = line.string(at: envelope.time), let time = timeReader.read(text), times.accepts(time)
            else { return nil }
            stated.time = time
        }
        if envelope.receivedAt != 0 {
            guard let text = line.string(at: envelope.receivedAt), let time = timeReader.read(text) else { return nil }
            stated.receivedAt = time
        }
        if envelope.serverTime != 0 {
            guard let isMarked = flatBoolean(line.value(at: envelope.serverTime)) else { return nil }
            stated.isMarked = isMarked
        }
        return stated
    }

    private mutating func encodeFlat(
        _ result: Result,
        _ payload: FlatPayload,
        _ line: JSONLineStructure,
        receivedAt: Timestamp,
        into output: inout ByteBuilder
    ) -> Bool {
        let event = tables.events[result.definitionIndex]
        envelopeWriter.append(
            id: result.id,
            of: event,
            time: result.time ?? receivedAt,
            receivedAt: receivedAt,
            keys: tables.keys,
            to: &output
        )
        guard
            encodeFlatIdentifier(at: envelope.userID, of: line, key: tables.keys.userID, into: &output),
            encodeFlatIdentifier(at: envelope.anonymousID, of: line, key: tables.keys.anonymousID, into: &output),
            encodeFlatIdentifier(at: envelope.sessionID, of: line, key: tables.keys.sessionID, into: &output)
        else { return false }
        if envelope.context == 0 {
            // The server may add one.
            encodeContext(0, into: &output)
        } else {
            guard copyFlatContext(line, into: &output) else { return false }
        }
        output.appendPadded(tables.keys.payload.bytes)
        guard encodeFlatPayload(payload, of: tables.objects[event.payload], line, into: &output) else { return false }
        if result.hasServerTime { output.append(ServerTime.member) }
        output.append("}\n")
        return true
    }

    @inline(__always)
    private mutating func encodeFlatIdentifier(
        at place: Int,
        of line: JSONLineStructure,
        key: ByteTable.Name,
        into output: inout ByteBuilder
    ) -> Bool {
        guard place != 0 else { return true }
        guard let text = line.string(at: place), text.count <= maximumIdentifierBytes else { return false }
        output.appendPadded(key.bytes)
        output.appendPlainString(text)
        return true
    }
}

// MARK: - Payload

extension EventCheck {
    /// A payload that was checked.
    private struct FlatPayload {
        let definitionIndex: Int
        /// The place behind its closing brace; 0 if the event has no payload.
        var end = 0
        /// Whether the text is the canonical form: the properties are in the plan's order, without white space.
        var isCanonical = false
    }

    /// Finds the event's definition, and checks the properties in the order in which they were sent; `slots` then has the places of
    /// their values.
    private mutating func checkFlatPayload(_ line: JSONLineStructure) -> FlatPayload? {
        guard let definitionIndex = findFlatDefinition(line) else { return nil }
        let event = tables.events[definitionIndex]
        guard event.isFlat else { return nil }
        let object = tables.objects[event.payload]
        var payload = FlatPayload(definitionIndex: definitionIndex)
        // There is no other frame, so its start is 0.
        _ = slots.push(object.keys.count)
        guard envelope.payload != 0 else { return event.requiredProperties == 0 ? payload : nil }
        var place = envelope.payload
        guard line.byte(at: place) == UInt8(ascii: "{") else { return nil }
        place &+= 1
        var (expected, required, isOrdered) = (0, 0, true)
        // In the canonical form, each property has a comma before it, or the opening brace.
        var canonicalLength = 1
        if line.byte(at: place) == UInt8(ascii: "}") {
            place &+= 1
        } else {
            while true {
                let ordinal = ordinal(ofFlatPropertyAt: place, of: line, in: object, guess: expected)
                guard ordinal >= 0, slots[ordinal] == 0 else { return nil }
                slots[ordinal] = place &+ 2
                let property = tables.properties + (object.firstProperty &+ ordinal)
                let length = checkFlatValue(at: place &+ 2, of: line, as: property)
                guard length >= 0 else { return nil }
                canonicalLength &+= property.pointee.key.count &+ length
                required &+= property.pointee.isRequired ? 1 : 0
                if ordinal < expected { isOrdered = false }
                expected = ordinal &+ 1
                let separator = line.byte(at: place &+ 3)
                place &+= 4
                if separator == UInt8(ascii: ",") { continue }
                guard separator == UInt8(ascii: "}") else { return nil }
                break
            }
        }
        guard required == event.requiredProperties else { return nil }
        payload.end = place
        payload.isCanonical = isOrdered && line.text(from: envelope.payload, to: place).count == canonicalLength
        return payload
    }

    private mutating func findFlatDefinition(_ line: JSONLineStructure) -> Int? {
        guard let name = line.string(at: envelope.name) else { return nil }
        let ordinal = tables.names.ordinal(of: name, guess: lastDefinition)
        guard ordinal >= 0 else { return nil }
        lastDefinition = ordinal
        return isAllowed(ordinal) ? ordinal : nil
    }

    /// The ordinal of the property whose key is at a place, or -1.
    @inline(__always)
    private func ordinal(
        ofFlatPropertyAt place: Int,
        of line: JSONLineStructure,
        in object: CompiledPlan.Object,
        guess: Int
    ) -> Int {
        if guess < object.keys.count {
            let key = tables.properties[object.firstProperty &+ guess].key
            // It begins with a comma.
            let quoted = UnsafeRawBufferPointer(start: key.start + 1, count: key.count &- 1)
            if isFlatKey(quoted, at: place, of: line) { return guess }
        }
        return line.key(at: place).map { object.keys.ordinal(of: $0) } ?? -1
    }

    /// Checks a value that is copied if it is valid, and returns its length; 0 if `encodeFlatForm` has to check and encode it, and
    /// -1 if this walk does not understand it.
    @inline(__always)
    private mutating func checkFlatValue(at place: Int, of line: JSONLineStructure, as property: PropertyRules) -> Int {
        let value = line.value(at: place)
        switch property.pointee.type {
        case .string:
            guard let text = line.string(at: place) else { return -1 }
            checkText(text, as: property)
        case .integer:
            guard let number = CanonicalNumber(value), number.isWhole else { return -1 }
            checkRange(of: number.integer, as: property)
        case .number:
            guard let number = CanonicalNumber(value) else { return -1 }
            checkRange(of: number.double, as: property)
            checkAllowed(property) { $0.contains(number.double) }
            return value.count
        case .boolean:
            guard flatBoolean(value) != nil else { return -1 }
        case .decimal, .timestamp, .date, .uuid:
            return 0
        case .array, .object, .any:
            return -1
        }
        if let enumeration = property.pointee.enumeration { checkEnumeration(enumeration, value, of: property) }
        return value.count
    }

    private mutating func encodeFlatPayload(
        _ payload: FlatPayload,
        of object: CompiledPlan.Object,
        _ line: JSONLineStructure,
        into output: inout ByteBuilder
    ) -> Bool {
        if payload.isCanonical {
            output.appendPadded(line.text(from: envelope.payload, to: payload.end))
            return true
        }
        let start = output.count
        for ordinal in 0..<object.keys.count where slots[ordinal] != 0 {
            let property = tables.properties + (object.firstProperty &+ ordinal)
            output.appendPadded(property.pointee.key.bytes)
            switch property.pointee.type {
            case .decimal, .timestamp, .date, .uuid:
                guard encodeFlatForm(at: slots[ordinal], of: line, as: property, into: &output) else { return false }
            default:
                output.appendPadded(line.value(at: slots[ordinal]))
            }
        }
        output.closeObject(from: start)
        return true
    }

    /// Checks and appends a value whose text has a form of its own; false if this walk does not understand it.
    private mutating func encodeFlatForm(
        at place: Int,
        of line: JSONLineStructure,
        as property: PropertyRules,
        into output: inout ByteBuilder
    ) -> Bool {
        let start = output.count
        guard let text = line.string(at: place) else {
            let number = line.value(at: place)
            guard property.pointee.type == .decimal, CanonicalNumber(number) != nil else { return false }
            encodeDecimal(number, isString: false, as: property, into: &output)
            return true
        }
        switch property.pointee.type {
        case .decimal: encodeDecimal(text, isString: true, as: property, into: &output)
        case .timestamp: encodeTimestamp(text, as: property, into: &output)
        case .date:
            encodeDate(text, as: property, into: &output)
            checkEnumeration(of: property, from: start, in: &output)
        default:
            encodeUUID(text, as: property, into: &output)
            checkEnumeration(of: property, from: start, in: &output)
        }
        return true
    }

    /// The value of `true` or `false`; `nil` for anything else.
    private func flatBoolean(_ text: UnsafeRawBufferPointer) -> Bool? {
        if text.elementsEqual("true".utf8) { return true }
        return text.elementsEqual("false".utf8) ? false : nil
    }
}
