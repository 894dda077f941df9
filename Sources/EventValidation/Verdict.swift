public import EventSchema

/// What kind of rule an event broke.
///
/// The texts are stable: they are what senders and dashboards match on.
public enum VerdictCode: String, Sendable, Hashable, CaseIterable {
    /// The text is no JSON, is not valid UTF-8, states a key twice, or holds a lone surrogate or a NUL character.
    case malformedJSON = "malformed-json"
    /// No definition has this name.
    case unknownEvent = "unknown-event"
    /// The envelope has no such field.
    case unknownField = "unknown-field"
    /// A required field or property is absent.
    case missingRequired = "missing-required"
    /// The value is of another type.
    case wrongType = "wrong-type"
    /// The value is none of those the plan allows.
    case notInEnum = "not-in-enum"
    /// The number is below the minimum, above the maximum, or does not fit its type.
    case outOfRange = "out-of-range"
    /// The string has more code points than allowed.
    case tooLong = "too-long"
    /// The string has fewer code points than required.
    case tooShort = "too-short"
    /// The string contains no match of the pattern.
    case patternMismatch = "pattern-mismatch"
    /// The plan does not name this property, and allows no others.
    case unplannedProperty = "unplanned-property"
    /// The id is no UUID.
    case invalidID = "invalid-id"
    /// The time is no RFC 3339 date-time.
    case invalidTime = "invalid-time"
    /// The event takes more than 1 MiB.
    case tooLarge = "too-large"
    /// The event nests deeper than 64 levels.
    case tooDeep = "too-deep"
}

/// One rule that an event broke.
///
/// It says what kind of thing was found, never the value itself.
public struct Violation: Sendable, Hashable {
    /// Which kind of rule.
    public let code: VerdictCode
    /// Where in the event, as a JSONPath (RFC 9535) from the envelope: `$.payload.items[2].price`.
    public let path: String
    /// What the plan or the envelope wants there.
    public let expected: String
    /// What kind of thing stands there.
    public let found: String
    /// The place in the plan that says so; `nil` where the rule is the envelope's.
    public let location: PlanLocation?

    /// States that a rule was broken.
    public init(code: VerdictCode, path: String, expected: String, found: String, location: PlanLocation? = nil) {
        self.code = code
        self.path = path
        self.expected = expected
        self.found = found
        self.location = location
    }
}

/// An event that was not taken, and every reason why, up to `maximumViolations`.
///
/// A validator with a limit on explained rejections states the first reason only of those beyond it.
public struct Rejection: Sendable {
    /// How many violations of one event are listed.
    public static let maximumViolations = 10

    /// The event's position in what was sent, counted from 0.
    public let index: Int
    /// The line it stands in, counted from 1, where events come as lines.
    public let line: Int?
    /// The id the sender gave, where it gave a string of at most 64 bytes.
    public let id: String?
    /// The event's name, where the plan knows it.
    public let name: String?
    /// The reasons; never empty.
    public let violations: [Violation]
    /// The bytes as they were sent.
    public let original: [UInt8]

    /// About how many bytes of memory it takes.
    package var approximateBytes: Int {
        violations.reduce(128 + original.count) { $0 + 256 + $1.path.utf8.count + $1.expected.utf8.count }
    }

    /// About how many bytes the quarantine takes for an event, besides the event itself; in memory it is twice that.
    package static func storedBytes(of violations: [Violation]) -> Int {
        violations.reduce(160) { sum, violation in
            let texts = [violation.path, violation.expected, violation.found, violation.location?.file ?? ""]
            return texts.reduce(sum + 80) { $0 + $1.utf8.count }
        }
    }

    /// States that an event was not taken.
    public init(
        index: Int,
        line: Int? = nil,
        id: String?,
        name: String?,
        violations: [Violation],
        original: [UInt8]
    ) {
        self.index = index
        self.line = line
        self.id = id
        self.name = name
        self.violations = violations
        self.original = original
    }
}
