import EventModel
package import EventSchema

/// A second, simple implementation of the check: it reads the event as a tree, and applies the rules one by one.
///
/// Its result must be that of `EventValidator`: the canonical line, or every violation.
package struct ReferenceCheck {
    package enum Outcome: Equatable {
        /// The canonical line.
        case accepted(String)
        /// `code path` and the plan's line, of every violation.
        case rejected([String])
        /// The text is not JSON.
        case malformed
    }

    package let plan: TrackingPlan
    /// The time of arrival in canonical form.
    package let arrival: String
    /// The id of an event without one.
    package let assignedID: String
    package private(set) var violations: [String] = []

    package init(plan: TrackingPlan, arrival: String, assignedID: String) {
        self.plan = plan
        self.arrival = arrival
        self.assignedID = assignedID
    }

    package static func check(_ text: [UInt8], plan: TrackingPlan, arrival: String, assignedID: String) -> Outcome {
        if text.count > 1 << 20 { return .rejected(["too-large $"]) }
        var check = ReferenceCheck(plan: plan, arrival: arrival, assignedID: assignedID)
        switch ReferenceParser.parse(text) {
        case .malformed:
            return .malformed
        case .value(let event):
            let line = check.canonicalEvent(event)
            return check.violations.isEmpty ? .accepted(line) : .rejected(check.violations)
        }
    }

    package mutating func report(_ code: String, _ path: String, _ location: PlanLocation? = nil) {
        violations.append("\(code) \(path)" + (location.map { " @\($0.line)" } ?? ""))
    }

    // MARK: Envelope

    private mutating func canonicalEvent(_ event: ReferenceJSON) -> String {
        guard case .object(let members) = event else {
            report("wrong-type", "$")
            return ""
        }
        let fields = envelope(members)
        let definition = definition(of: fields["name"])
        let id = id(of: fields["id"])
        let timeOfID = fields["id"] == nil || fields["time"] != nil ? nil : timeWithin(id)
        let time = timeOfID ?? time(of: fields["time"])
        let isMarked = isMarked(fields["serverTime"])
        var line = "{" + #""id":"\#(id)","name":\#(ReferenceWriter.value(fields["name"] ?? .null)),"#
        line += #""time":"\#(time)","receivedAt":"\#(arrival)""#
        for field in ["userId", "anonymousId", "sessionId"] {
            guard let value = fields[field] else { continue }
            guard case .string(let text) = value else {
                report("wrong-type", "$.\(field)")
                continue
            }
            line += ",\"\(field)\":" + string(text, at: "$.\(field)")
            if String(codePoints: text).utf8.count > 512 { report("identifier-too-long", "$.\(field)") }
        }
        if let context = fields["context"] {
            if case .object = context {
                line += ",\"context\":" + free(context, at: "$.context", level: 2)
            } else {
                report("wrong-type", "$.context")
            }
        }
        if let definition { line += ",\"payload\":" + payload(fields["payload"], of: definition) }
        if fields["id"] != nil, fields["time"] == nil ? timeOfID == nil : isMarked { line += #","serverTime":true"# }
        return line + "}"
    }

    /// The time in an id of version 7, if it is at most 400 days before and 2 days after the arrival.
    private func timeWithin(_ id: String) -> String? {
        let digits = Array(id.filter { $0 != "-" })
        guard digits.count == 32, digits[12] == "7", "89ab".contains(digits[16]),
            let milliseconds = Int64(String(digits[..<12]), radix: 16), let arrival = Timestamp(arrival)
        else { return nil }
        let difference = milliseconds * 1000 - arrival.microseconds
        guard (-400 * 86_400_000_000...2 * 86_400_000_000).contains(difference) else { return nil }
        return "\(Timestamp(microseconds: milliseconds * 1000, fractionDigits: 3))"
    }

    private mutating func isMarked(_ value: ReferenceJSON?) -> Bool {
        switch value {
        case nil: return false
        case .boolean(let value): return value
        default:
            report("wrong-type", "$.serverTime")
            return false
        }
    }

    private mutating func envelope(_ members: [ReferenceMember]) -> [String: ReferenceJSON] {
        let names = ["id", "name", "time", "userId", "anonymousId", "sessionId", "context", "payload", "serverTime"]
        var fields: [String: ReferenceJSON] = [:]
        for member in members {
            let path = "$" + ReferenceWriter.step(member.key)
            guard let name = names.first(where: { $0.unicodeScalars.map(\.value) == member.key }) else {
                report("unknown-field", path)
                continue
            }
            if fields[name] != nil { report("malformed-json", path) }
            fields[name] = fields[name] ?? member.value
        }
        return fields
    }

    private mutating func definition(of name: ReferenceJSON?) -> EventDefinition? {
        switch name {
        case nil: report("missing-required", "$.name")
        case .string(let text):
            if let found = plan.events.first(where: { $0.name.unicodeScalars.map(\.value) == text }) { return found }
            report("unknown-event", "$.name")
        default: report("wrong-type", "$.name")
        }
        return nil
    }

    private mutating func id(of value: ReferenceJSON?) -> String {
        guard let value else { return assignedID }
        if case .string(let text) = value, let id = Self.uuid(String(codePoints: text)) { return id }
        report("invalid-id", "$.id")
        return ""
    }

    private mutating func time(of value: ReferenceJSON?) -> String {
        guard let value else { return arrival }
        if case .string(let text) = value, let time = ReferenceTime(String(codePoints: text)) { return time.text }
        report("invalid-time", "$.time")
        return ""
    }

    private mutating func payload(_ value: ReferenceJSON?, of definition: EventDefinition) -> String {
        switch value {
        case nil where !definition.properties.contains(where: \.isRequired):
            return "{}"
        case nil:
            report("missing-required", "$.payload", definition.location)
        case .object(let members):
            let place = Place(path: "$.payload", level: 2, location: definition.location)
            return object(members, of: definition.properties, isOpen: definition.allowsAdditionalProperties, at: place)
        default:
            report("wrong-type", "$.payload")
        }
        return ""
    }

    package static func uuid(_ text: String) -> String? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [8, 4, 4, 4, 12] else { return nil }
        guard parts.joined().utf8.allSatisfy({ "0123456789abcdefABCDEF".utf8.contains($0) }) else { return nil }
        return text.lowercased()
    }
}
