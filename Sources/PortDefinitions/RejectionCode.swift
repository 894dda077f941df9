/// A kind of rule that a rejected event broke: the code of a verdict.
///
/// The codes are stable. The server, the client for apps and the OpenAPI document use this table, and a test compares
/// Documentation/Send/HTTP.md with it.
package enum RejectionCode: String, CaseIterable, Sendable {
    case malformedJSON = "malformed-json"
    case unknownEvent = "unknown-event"
    case forbiddenEvent = "forbidden-event"
    case unknownField = "unknown-field"
    case missingRequired = "missing-required"
    case wrongType = "wrong-type"
    case notInEnum = "not-in-enum"
    case outOfRange = "out-of-range"
    case tooLong = "too-long"
    case tooShort = "too-short"
    case patternMismatch = "pattern-mismatch"
    case unplannedProperty = "unplanned-property"
    case invalidID = "invalid-id"
    case invalidTime = "invalid-time"
    case timeOutOfRange = "time-out-of-range"
    case identifierTooLong = "identifier-too-long"
    case tooLarge = "too-large"
    case tooDeep = "too-deep"

    /// What the code means, as one sentence of Markdown.
    package var meaning: String {
        switch self {
        case .malformedJSON:
            "The text is not JSON or not valid UTF-8, has a duplicate key, or contains a lone surrogate or a NUL character."
        case .unknownEvent: "The plan has no event of this name."
        case .forbiddenEvent: "The write key may not send this event."
        case .unknownField: "The envelope has no such field."
        case .missingRequired: "A required field or property is absent."
        case .wrongType: "The value has another type."
        case .notInEnum: "The value is not one of the allowed values."
        case .outOfRange: "The number is below the minimum, above the maximum, or does not fit its type."
        case .tooLong: "The text has more code points than allowed."
        case .tooShort: "The text has fewer code points than allowed."
        case .patternMismatch: "The text does not match the pattern."
        case .unplannedProperty: "The plan does not declare this property, and the event allows no others."
        case .invalidID: "The id is not a UUID."
        case .invalidTime: "The time has none of the accepted forms."
        case .timeOutOfRange:
            "The event happened longer before its arrival than `events.maximumAgeDays` allows, or longer after it than `events.maximumLeadDays`."
        case .identifierTooLong: "`userId`, `anonymousId` or `sessionId` is longer than 512 bytes."
        case .tooLarge: "The event is larger than 1 MiB."
        case .tooDeep: "The event has more than 64 levels of nesting."
        }
    }

    /// A table of Markdown with every code.
    package static var table: String {
        let rows = allCases.map { "| `\($0.rawValue)` | \($0.meaning) |" }
        return (["| code | meaning |", "|---|---|"] + rows).joined(separator: "\n")
    }
}
