@_spi(CanonicalJSON) import EventModel
import EventSchema

/// Encodes the properties of a typed event as canonical JSON, and checks each value against the plan.
///
/// There must be one call for each property of the object, in the plan's order, with `nil` for an absent value. A call that does
/// not fit the plan is a violation, so no invalid event is encoded. Calls allocate memory only for patterns that RE2 has to
/// match, values of `JSONValue`, decimals of more than 18 digits, and violations.
public struct PayloadEncoder: ~Copyable {

    /// An object or an array that is being encoded.
    struct Place {
        let property: PropertyRules
        /// The index of the element being encoded; -1 for an object.
        var element = -1
    }

    let plan: CompiledPlan
    var output = ByteBuilder(capacity: 4096)
    var violations: [Violation] = []
    /// The property of the next call.
    var next: PropertyRules
    /// The end of the properties of the object being encoded.
    var end: PropertyRules
    /// The index in the plan of the object being encoded; -1 outside of the payload.
    var object = -1
    /// Whether the next call is for an element of an array, which has no key.
    var isElement = false
    /// Whether the additional properties of the object were encoded, after which no call may follow.
    var isComplete = false
    /// The additional property being encoded.
    var additionalKey: String?
    /// Whether the current element was encoded.
    var isElementDone = false
    /// The objects and arrays that contain the next value, from the outermost to the innermost.
    var places: [Place] = []
    /// The field of the envelope being encoded.
    var field: StaticString = "payload"
    /// The depth of `next`, counting the event itself.
    var depth = 1

    init(plan: CompiledPlan) {
        self.plan = plan
        next = plan.tables.properties
        end = next
    }

    /// Prepares for the next event.
    mutating func reset() {
        if !violations.isEmpty { violations = [] }
        places.removeAll(keepingCapacity: true)
        (object, isElement, depth) = (-1, false, 1)
    }

    /// Encodes the payload of an event as the plan's object with the index `object`.
    mutating func encodePayload(_ payload: some PayloadObject, as object: Int) {
        field = "payload"
        encodeMembers(of: payload, as: object)
    }

    /// Encodes an object's members, and the braces around them.
    @inline(__always)
    mutating func encodeMembers(of object: some PayloadObject, as index: Int) {
        guard descend() else { return }
        let rules = plan.tables.objects[index]
        let outer = (self.object, next, end, isElement, isComplete)
        self.object = index
        next = plan.tables.properties + rules.firstProperty
        end = next + rules.keys.count
        (isElement, isComplete) = (false, false)
        let start = output.count
        object.encode(into: &self)
        if !isComplete {
            while next < end { skip() }
        }
        output.closeObject(from: start)
        (self.object, next, end, isElement, isComplete) = outer
        depth -= 1
    }

    /// Writes the key of the next value and returns its rules; `nil` if the plan has another type there.
    @inline(__always)
    mutating func begin(_ type: PropertyType.Kind) -> PropertyRules? {
        guard let property = advance() else { return nil }
        guard property.pointee.isOfType(type), property.pointee.enumeration == nil else {
            reportType(of: property, found: type.rawValue)
            return nil
        }
        if !isElement { output.appendPadded(property.pointee.key.bytes) }
        return property
    }

    /// The rules of the next value; `nil` if the object has no more properties.
    @inline(__always)
    mutating func advance() -> PropertyRules? {
        let property = next
        if isElement, !isElementDone {
            isElementDone = true
            return property
        }
        guard !isElement, !isComplete, property < end else {
            reportSurplus()
            return nil
        }
        next = property + 1
        return property
    }

    /// Encodes an absent value.
    @inline(__always)
    mutating func skip() {
        guard let property = advance() else { return }
        guard isElement || property.pointee.isRequired else { return }
        guard property.pointee.isNullable else {
            return reportMissing(property)
        }
        if !isElement { output.appendPadded(property.pointee.key.bytes) }
        output.append("null")
    }
}
