@_spi(CanonicalJSON) import EventModel
import EventSchema
@_spi(CanonicalJSON) import JSONTape

/// What the plan protects is removed or hashed in the walk that checks it.
extension EventCheck {
    /// Checks the value of a sensitive property, and appends what remains of it with its key.
    @inline(never)
    mutating func encodeSensitive(at index: Int, as property: PropertyRules, into output: inout ByteBuilder) {
        let start = output.count
        output.appendPadded(property.pointee.key.bytes)
        guard property.pointee.treatment == .hash, isString(at: index) else {
            encodeValue(at: index, as: property, into: &output)
            if property.pointee.treatment == .drop { output.count = start }
            return
        }
        let text = tape.string(at: index)
        // It was checked before it was hashed.
        guard !HashedText.matches(text) else { return encodeString(at: index, into: &output) }
        let value = output.count
        encodeValue(at: index, as: property, into: &output)
        output.count = value
        guard let key = plan.hashKey else { return output.count = start }
        HashedText.append(hashOf: text, key, to: &output)
    }

    /// Appends the `context` at `index`, or what the server adds to an absent one if `index` is 0.
    @inline(never)
    mutating func encodeTreatedContext(at index: Int, into output: inout ByteBuilder) {
        var (statesAddress, statesTrace) = (false, false)
        let start = output.count
        output.appendPadded(tables.keys.context.bytes)
        let members = output.count
        if index != 0 {
            guard descend() else { return }
            reportDuplicateKeys(ofObjectAt: index) { _ in true }
            let contents = tape.contents(of: index)
            var member = contents.lowerBound
            while member < contents.upperBound {
                let key = tape.string(at: member)
                guard !isAbsent(member + 1) else {
                    member = tape.end(of: member + 1)
                    continue
                }
                if key.elementsEqual(Self.addressKey.utf8) { statesAddress = true }
                if key.elementsEqual(TraceParent.key.utf8) { statesTrace = true }
                path.push(.key(key))
                encodeTreatedMember(at: member, sensitive.context[key], into: &output)
                path.pop()
                member = tape.end(of: member + 1)
            }
            depth -= 1
        }
        if !statesAddress { append(additions.clientAddress, of: Self.addressKey, to: &output) }
        if !statesTrace { append(additions.traceparent, of: TraceParent.key, to: &output) }
        if index == 0, output.count == members { return output.count = start }
        output.closeObject(from: members)
    }

    /// The key of the sender's address in the `context`.
    private static var addressKey: String { "ip" }

    /// Appends what the server adds to the `context`, unless it is empty or the plan drops it; `key` needs no escapes.
    private mutating func append(_ text: [UInt8], of key: String, to output: inout ByteBuilder) {
        guard !text.isEmpty else { return }
        let name = Array(key.utf8) + [UInt8](repeating: 0, count: ByteBuilder.padding)
        let treatment = name.withUnsafeBytes {
            sensitive.context[UnsafeRawBufferPointer(rebasing: $0.prefix(key.utf8.count))]
        }
        guard treatment != .drop else { return }
        let start = output.count
        output.append(UInt8(ascii: ","))
        name.withUnsafeBytes {
            _ = output.appendUnpaddedString(UnsafeRawBufferPointer(rebasing: $0.prefix(key.utf8.count)))
        }
        output.append(UInt8(ascii: ":"))
        text.withUnsafeBytes { text in
            if treatment == .keep {
                _ = output.appendUnpaddedString(text)
            } else if let hashKey = plan.hashKey {
                HashedText.append(hashOf: text, hashKey, to: &output)
            } else {
                output.count = start
            }
        }
    }

    /// Appends a member of a free-form object, with a comma before it; or nothing, if its value is removed.
    ///
    /// A value other than a string has no hash, so it is removed instead, unless it is null.
    private mutating func encodeTreatedMember(at member: Int, _ treatment: Treatment, into output: inout ByteBuilder) {
        let (start, value) = (output.count, member + 1)
        output.append(UInt8(ascii: ","))
        encodeString(at: member, into: &output)
        output.append(UInt8(ascii: ":"))
        let valueStart = output.count
        encodeFreeForm(at: value, into: &output)
        guard treatment != .keep, !(treatment == .hash && tape.kind(at: value) == .null) else { return }
        guard treatment == .hash, isString(at: value), let key = plan.hashKey else { return output.count = start }
        let text = tape.string(at: value)
        guard !HashedText.matches(text) else { return }
        output.count = valueStart
        HashedText.append(hashOf: text, key, to: &output)
    }
}

// MARK: - Rejected events

extension EventCheck {
    /// The rejected event at `index` without what the plan protects, as the quarantine may store it.
    ///
    /// Every member whose key is sensitive in the event's definition is removed or hashed, wherever it is; if the event is unknown,
    /// every member whose key is sensitive in any definition.
    mutating func treatedOriginal(at index: Int, definitionIndex: Int) -> [UInt8] {
        var output = ByteBuilder(capacity: 1024)
        let payload = sensitive.rejected(of: definitionIndex)
        depth = 0
        guard tape.kind(at: index) == .object else {
            if isString(at: index) {
                Self.appendWithheld(to: &output)
            } else {
                appendTreated(at: index, payload, to: &output)
            }
            return Array(output.bytes)
        }
        appendMembers(ofObjectAt: index, to: &output) { check, key, member, output in
            let field = check.tables.fields.ordinal(of: key)
            let holdsProperties = field == EnvelopeFields.contextOrdinal || field == EnvelopeFields.payloadOrdinal
            if holdsProperties, check.isString(at: member + 1) {
                check.appendKey(at: member, to: &output)
                Self.appendWithheld(to: &output)
            } else if field == EnvelopeFields.contextOrdinal, check.tape.kind(at: member + 1) == .object {
                check.appendKey(at: member, to: &output)
                check.appendMembers(ofObjectAt: member + 1, to: &output) { check, key, member, output in
                    // A property may be there by mistake.
                    let treatment = check.sensitive.context[key]
                    let keyTreatment = treatment == .keep ? payload[key] : treatment
                    check.appendTreatedMember(at: member, keyTreatment, payload, to: &output)
                }
            } else {
                // The envelope's own fields are not properties, though a property may have the same key.
                check.appendTreatedMember(at: member, field < 0 ? payload[key] : .keep, payload, to: &output)
            }
        }
        return Array(output.bytes)
    }

    private mutating func appendMembers(
        ofObjectAt index: Int,
        to output: inout ByteBuilder,
        _ append: (inout EventCheck, UnsafeRawBufferPointer, Int, inout ByteBuilder) -> Void
    ) {
        let contents = tape.contents(of: index)
        let start = output.count
        var member = contents.lowerBound
        while member < contents.upperBound {
            append(&self, tape.string(at: member), member, &output)
            member = tape.end(of: member + 1)
        }
        output.closeObject(from: start)
    }

    private mutating func appendKey(at member: Int, to output: inout ByteBuilder) {
        output.append(UInt8(ascii: ","))
        _ = output.appendString(tape.string(at: member))
        output.append(UInt8(ascii: ":"))
    }

    /// Appends a member with a comma before it; `keys` are those of the objects in its value, or `nil` to keep them all.
    private mutating func appendTreatedMember(
        at member: Int,
        _ treatment: Treatment,
        _ keys: TreatmentTable?,
        to output: inout ByteBuilder
    ) {
        let (start, value) = (output.count, member + 1)
        let isNull = tape.kind(at: value) == .null
        guard treatment != .drop else { return }
        appendKey(at: member, to: &output)
        guard treatment == .hash, !isNull else { return appendTreated(at: value, keys, to: &output) }
        guard isString(at: value), let key = plan.hashKey else { return output.count = start }
        let text = tape.string(at: value)
        if HashedText.matches(text) {
            _ = output.appendString(text)
        } else {
            HashedText.append(hashOf: text, key, to: &output)
        }
    }

    /// Whether a text may be JSON in which there are properties, as a sender makes it that encodes an object twice.
    private static func looksEncoded(_ text: UnsafeRawBufferPointer) -> Bool {
        switch text.first(where: { !JSONElements.isSpace($0) }) {
        case UInt8(ascii: "{"), UInt8(ascii: "["): true
        case UInt8(ascii: "\""): text.last { !JSONElements.isSpace($0) } == UInt8(ascii: "\"")
        default: false
        }
    }

    /// Appends what stands for a text in which the check finds no properties.
    private static func appendWithheld(to output: inout ByteBuilder) {
        output.append("\"This text is not stored: it may contain values that the plan protects.\"")
    }

    private mutating func appendTreated(at index: Int, _ keys: TreatmentTable?, to output: inout ByteBuilder) {
        // The rest of an event that nests too deeply is not worth a stack of any depth.
        guard depth < EventLimits.maximumDepth else { return output.append("null") }
        depth += 1
        defer { depth -= 1 }
        switch tape.kind(at: index) {
        case .object:
            appendMembers(ofObjectAt: index, to: &output) { check, key, member, output in
                check.appendTreatedMember(at: member, keys?[key] ?? .keep, keys, to: &output)
            }
        case .array:
            let contents = tape.contents(of: index)
            var element = contents.lowerBound
            output.append(UInt8(ascii: "["))
            while element < contents.upperBound {
                if element > contents.lowerBound { output.append(UInt8(ascii: ",")) }
                appendTreated(at: element, keys, to: &output)
                element = tape.end(of: element)
            }
            output.append(UInt8(ascii: "]"))
        case .string:
            let text = tape.string(at: index)
            if Self.looksEncoded(text) { Self.appendWithheld(to: &output) } else { _ = output.appendString(text) }
        case .signed, .unsigned, .double:
            output.append(numberText(at: index))
        default:
            tape.appendScalar(at: index, to: &output)
        }
    }
}
