import EventModel
import EventSchema
import JSONTape

/// Writes the properties of a typed event as canonical JSON, and holds each value against the plan on the way.
///
/// The calls follow the plan: one for each property of the object being encoded, in the plan's order, with `nil` where it
/// is absent. A call that does not fit the plan is a violation as well, so nothing wrong is ever encoded. No call
/// allocates memory, but for a pattern that RE2 has to match, values of `JSONValue`, long decimals, and violations.
public struct PayloadEncoder: ~Copyable {
    typealias PropertyRules = UnsafePointer<CompiledPlan.Property>

    /// An object or an array that is being encoded.
    struct Place {
        let property: PropertyRules
        /// The element being encoded; -1 where it is an object.
        var element = -1
    }

    let plan: CompiledPlan
    var output = ByteBuilder(capacity: 4096)
    var violations: [Violation] = []
    /// The property that the next call is about.
    var next: PropertyRules
    /// Behind the last property of the object being encoded.
    var end: PropertyRules
    /// The object being encoded, by its place in the plan; -1 outside of the payload.
    var object = -1
    /// Whether the next call is about an element of an array: it has no key, and the one after is about another.
    var isElement = false
    /// Whether the object being encoded has had its additional properties, behind which nothing comes.
    var isComplete = false
    /// The additional property being encoded.
    var additionalKey: String?
    /// Whether the element has had its call.
    var isElementDone = false
    /// What is being encoded around the next value, from the payload inwards.
    var places: [Place] = []
    /// The field of the envelope that is being encoded.
    var field: StaticString = "payload"
    /// How deep `next` is nested, the event itself being the first level.
    var depth = 1

    init(plan: CompiledPlan) {
        self.plan = plan
        next = plan.tables.properties
        end = next
    }

    /// Makes ready for the next event.
    mutating func reset() {
        if !violations.isEmpty { violations = [] }
        places.removeAll(keepingCapacity: true)
        (object, isElement, depth) = (-1, false, 1)
    }

    /// Encodes the payload of an event that the plan's object `object` describes.
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
        // Every member was appended with a comma before it; the first one's place is the opening brace's.
        if output.count == start {
            output.append("{}")
        } else {
            output.replaceByte(at: start, with: UInt8(ascii: "{"))
            output.append(UInt8(ascii: "}"))
        }
        (self.object, next, end, isElement, isComplete) = outer
        depth -= 1
    }

    /// The rules of the next value, whose key is now written; `nil` where the plan has no such value there.
    @inline(__always)
    mutating func begin(_ type: PropertyType) -> PropertyRules? {
        guard let property = advance() else { return nil }
        guard property.pointee.type == type, property.pointee.enumeration == nil else {
            report(.wrongType, of: property, expected: plan.typeRule(of: property), found: type.rawValue)
            return nil
        }
        if !isElement { output.appendPadded(property.pointee.key.bytes) }
        return property
    }

    /// The rules of the next value; `nil` where the object has no more properties.
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

    /// Encodes the absence of the next value.
    @inline(__always)
    mutating func skip() {
        guard let property = advance() else { return }
        guard isElement || property.pointee.isRequired else { return }
        guard property.pointee.isNullable else {
            report(.missingRequired, of: property, expected: property.pointee.type.rawValue, found: "nothing")
            return
        }
        if !isElement { output.appendPadded(property.pointee.key.bytes) }
        output.append("null")
    }

    /// Enters an object or array; says no, and notes it, where that is too deep.
    @inline(__always)
    mutating func descend() -> Bool {
        guard depth < EventCheck.maximumDepth else {
            reportDepth()
            return false
        }
        depth += 1
        return true
    }
}
