import EventModel
public import EventSchema

/// A rule that an event broke.
///
/// It says what kind of value was found, but never shows the value itself.
public struct Violation: Sendable, Hashable {
    /// The kind of rule.
    public let code: VerdictCode
    /// The place in the event, as a JSONPath (RFC 9535) from the envelope: `$.payload.items[2].price`.
    public let path: String
    /// What the plan or the envelope requires there.
    public let expected: String
    /// What kind of value was found there.
    public let found: String
    /// The place of the rule in the plan; `nil` if it is a rule of the envelope.
    public let location: PlanLocation?

    /// Creates a violation.
    public init(code: VerdictCode, path: String, expected: String, found: String, location: PlanLocation? = nil) {
        self.code = code
        self.path = path
        self.expected = expected
        self.found = found
        self.location = location
    }
}

// MARK: - JSON

extension [Violation] {
    /// Appends an array of objects with the members `code`, `path`, `expected`, `found`, and `plan` if there is a place in it.
    ///
    /// HTTP answers and the quarantine have the same form. The text is one line, because control characters are escaped.
    package func appendJSON(to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "["))
        for (position, violation) in enumerated() {
            if position > 0 { bytes.append(UInt8(ascii: ",")) }
            violation.appendJSON(to: &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
    }
}

extension Violation {
    fileprivate func appendJSON(to bytes: inout [UInt8]) {
        bytes.append(contentsOf: #"{"code":"#.utf8)
        JSONString.append(code.rawValue, to: &bytes)
        bytes.append(contentsOf: #","path":"#.utf8)
        JSONString.append(path, to: &bytes)
        bytes.append(contentsOf: #","expected":"#.utf8)
        JSONString.append(expected, to: &bytes)
        bytes.append(contentsOf: #","found":"#.utf8)
        JSONString.append(found, to: &bytes)
        if let location {
            bytes.append(contentsOf: #","plan":"#.utf8)
            JSONString.append(location.description, to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }
}
