import EventModel
import EventSchema
import JSONTape

/// Checks one event after the other against the plan, and encodes each in the same walk over its tape.
///
/// A value is encoded as soon as it is found right. When anything in the event is wrong, what was encoded of it is
/// taken back; the walk goes on, so that all its problems are found.
struct EventCheck: ~Copyable {
    /// A property of the plan, where it stands: it is too large to copy for each value.
    typealias PropertyRules = UnsafePointer<CompiledPlan.Property>

    /// How deep objects and arrays may nest, the event itself being the first level.
    static let maximumDepth = 64

    let plan: CompiledPlan
    let tables: CompiledPlan.Tables
    /// Whether the event's own `receivedAt` stands, as in events that come back out of Sluice.
    let acceptsReceivedAt: Bool

    /// The current document.
    var tape = JSONTape.null
    /// The digits of the current document's numbers; made when first asked for.
    var numbers: NumberTokens?
    var arrival = Timestamp(microseconds: 0)
    var path = ViolationPath()
    /// What is wrong with the current event, up to `maximumViolations`.
    var violations: [Violation] = []
    /// The first rule that the current event broke; `nil` while it broke none.
    var firstCode: VerdictCode?
    /// How many violations of an event are described; 0 where its first code is all that is asked for.
    var maximumViolations = Rejection.maximumViolations
    var slots = SlotStack()
    var depth = 0
    var envelope = Envelope()
    /// Which event of the plan came last: the next is often another of it.
    var lastDefinition = 0
    var timeReader = TimestampReader()
    var times = TimestampWriter()
    var arrivalTimes = TimestampWriter()

    init(plan: CompiledPlan, acceptsReceivedAt: Bool) {
        self.plan = plan
        tables = plan.tables
        self.acceptsReceivedAt = acceptsReceivedAt
    }

    /// Turns to another document.
    mutating func begin(_ tape: JSONTape) {
        self.tape = tape
        numbers = nil
    }

    /// Notes that the event broke a rule.
    ///
    /// - Returns: Whether a description is wanted. If not, nothing need be spent on one: what is wrong with a large event
    ///   must not take longer than the event.
    mutating func isDescribed(_ code: VerdictCode) -> Bool {
        if firstCode == nil { firstCode = code }
        return violations.count < maximumViolations
    }

    /// Notes a violation at the current place.
    @inline(never)
    mutating func report(
        _ code: VerdictCode,
        expected: String,
        found: String,
        location: PlanLocation? = nil
    ) {
        guard isDescribed(code) else { return }
        violations.append(
            Violation(code: code, path: path.text, expected: expected, found: found, location: location)
        )
    }

    /// Notes a violation of a property's rules at the current place.
    @inline(never)
    mutating func report(
        _ code: VerdictCode,
        of property: PropertyRules,
        expected: String,
        found: String
    ) {
        guard isDescribed(code) else { return }
        report(code, expected: expected, found: found, location: plan.definitions[property.pointee.index].location)
    }

    /// Notes a violation one step below the current place.
    @inline(never)
    mutating func report(
        _ code: VerdictCode,
        at step: ViolationPath.Step,
        expected: String,
        found: String,
        location: PlanLocation? = nil
    ) {
        guard isDescribed(code) else { return }
        path.push(step)
        report(code, expected: expected, found: found, location: location)
        path.pop()
    }

    /// Enters an object or array; says no, and notes it, where that is too deep.
    mutating func descend() -> Bool {
        guard depth < Self.maximumDepth else {
            report(.tooDeep, expected: "at most \(Self.maximumDepth) levels of nesting", found: "more")
            return false
        }
        depth += 1
        return true
    }

    /// What kind of thing stands at `index`, in JSON's words.
    func kindName(at index: Int) -> String {
        switch tape.kind(at: index) {
        case .object: "object"
        case .array: "array"
        case .string: "string"
        case .signed, .unsigned: "integer"
        case .double: "number"
        case .true, .false: "boolean"
        default: "null"
        }
    }

    /// The id as the sender stated it, where it is a string short enough to repeat.
    var statedID: String? {
        guard envelope.id != 0, isString(at: envelope.id) else { return nil }
        let text = tape.string(at: envelope.id)
        return text.count <= 64 ? String(decoding: text, as: UTF8.self) : nil
    }
}
