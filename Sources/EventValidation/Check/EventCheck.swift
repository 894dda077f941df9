@_spi(CanonicalJSON) import EventModel
import EventSchema
@_spi(CanonicalJSON) import JSONTape

/// Checks events against the plan, one after another, and encodes each in the same walk over its tape.
///
/// A value is encoded as soon as it is checked. If anything in the event is invalid, its encoded bytes are removed, but the walk
/// continues, to find all its violations.
struct EventCheck: ~Copyable {
    let plan: CompiledPlan
    let tables: CompiledPlan.Tables
    /// Whether events may have the field `receivedAt`, which only events written by Sluice have.
    let acceptsReceivedAt: Bool
    /// The maximum size of the user's, the device's and the session's id; events that were accepted before have no limit.
    var maximumIdentifierBytes = IdentifierLimit.maximumBytes

    /// The current document.
    var tape = JSONTape.null
    /// The numbers of the current document as they were sent; found when they are first needed.
    var numbers: NumberTokens?
    /// Whether the current document may have numbers with more digits than a double holds; found when it is first needed.
    var mayHaveLongNumbers: Bool?
    var arrival = Timestamp(microseconds: 0)
    /// The times that the events may state.
    var times = EventTimes(nil, arrival: Timestamp(microseconds: 0))
    /// Whether a `null` counts as an absent property if the plan does not allow it there; it does not within a value that the plan
    /// does not describe.
    var nullIsAbsent = false
    /// The events that the sender may send; `nil` for all.
    var allowedEvents: EventSet?
    /// What is added to the `context`.
    var additions = ContextAdditions()
    /// What is wrong with events of the body beside what the check finds, by their positions.
    var refusals: [Int: [Violation]] = [:]
    /// Whether an event without an id gets the same one each time, and another arrival.
    var repeatsIDs = false
    /// The position of the next event in the body.
    var position = 0
    var path = ViolationPath()
    /// The violations of the current event, up to `maximumViolations`.
    var violations: [Violation] = []
    /// The code of the current event's first violation; `nil` if it has none so far.
    var firstCode: VerdictCode?
    /// The maximum number of violations that are described for an event; 0 if only the first code is needed.
    var maximumViolations = Rejection.maximumViolations
    var slots = SlotStack()
    var depth = 0
    var envelope = EnvelopeFields()
    var envelopeWriter = EnvelopeWriter()
    /// The definition of the last event, because the next event often has the same.
    var lastDefinition = 0
    var timeReader = TimestampReader()

    init(plan: CompiledPlan, acceptsReceivedAt: Bool) {
        self.plan = plan
        tables = plan.tables
        self.acceptsReceivedAt = acceptsReceivedAt
    }

    /// Whether the value at `index` counts as absent where the plan does not allow `null`.
    @inline(__always)
    func isAbsent(_ index: Int) -> Bool { nullIsAbsent && tape.kind(at: index) == .null }

    /// What the plan protects.
    var sensitive: SensitiveKeys { tables.sensitive }

    /// Continues with another document.
    mutating func begin(_ tape: JSONTape) {
        self.tape = tape
        numbers = nil
        mayHaveLongNumbers = nil
    }

    mutating func isDescribed(_ code: VerdictCode) -> Bool {
        if firstCode == nil { firstCode = code }
        return violations.count < maximumViolations
    }

    /// Records a violation at the current place.
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

    /// Records a violation of a property's rules at the current place.
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

    /// Records a violation one step below the current place.
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

    /// Records what is wrong with the event beside what the check finds.
    mutating func reportRefusals() {
        for refusal in refusals[position] ?? [] where isDescribed(refusal.code) { violations.append(refusal) }
    }

    /// The JSON type of the value at `index`.
    func kindName(at index: Int) -> String {
        switch tape.kind(at: index) {
        case .object: "object"
        case .array: "array"
        case .string: "string"
        case .signed, .unsigned: "integer"
        case .double: isOversizedInteger(at: index) ? "integer" : "number"
        case .true, .false: "boolean"
        default: "null"
        }
    }

    private func isOversizedInteger(at index: Int) -> Bool {
        tape.double(at: index).isNaN && !tape.oversizedNumber(at: index).contains { ".eE".utf8.contains($0) }
    }

    /// The id that the sender stated; `nil` if it is not a string, or is too long to repeat.
    var statedID: String? {
        guard envelope.id != 0, isString(at: envelope.id) else { return nil }
        let text = tape.string(at: envelope.id)
        return text.count <= 64 ? String(decoding: text, as: UTF8.self) : nil
    }
}
