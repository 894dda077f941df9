package import PortDefinitions

/// The kind of rule that an event broke.
///
/// The raw values are stable, so that senders and dashboards can match them. Later versions may add codes.
public struct VerdictCode: Sendable, Hashable, CaseIterable, CustomStringConvertible {
    package let kind: RejectionCode

    /// The text is not JSON or not valid UTF-8, repeats a key, or contains a lone surrogate or a NUL character.
    public static let malformedJSON = Self(kind: .malformedJSON)
    /// The plan has no event with this name.
    public static let unknownEvent = Self(kind: .unknownEvent)
    /// The write key may not send this event.
    public static let forbiddenEvent = Self(kind: .forbiddenEvent)
    /// The envelope has no field with this name.
    public static let unknownField = Self(kind: .unknownField)
    /// A required field or property is missing.
    public static let missingRequired = Self(kind: .missingRequired)
    /// The value has another type.
    public static let wrongType = Self(kind: .wrongType)
    /// The value is not one of those that the plan allows.
    public static let notInEnum = Self(kind: .notInEnum)
    /// The number is less than the minimum, greater than the maximum, or out of the range of its type.
    public static let outOfRange = Self(kind: .outOfRange)
    /// The string has more code points than the plan allows.
    public static let tooLong = Self(kind: .tooLong)
    /// The string has fewer code points than the plan requires.
    public static let tooShort = Self(kind: .tooShort)
    /// The string does not match the pattern.
    public static let patternMismatch = Self(kind: .patternMismatch)
    /// The plan does not declare this property, and allows no additional ones.
    public static let unplannedProperty = Self(kind: .unplannedProperty)
    /// The id is not a UUID.
    public static let invalidID = Self(kind: .invalidID)
    /// The time is not an RFC 3339 date-time.
    public static let invalidTime = Self(kind: .invalidTime)
    /// The event happened too long before or after its arrival.
    public static let timeOutOfRange = Self(kind: .timeOutOfRange)
    /// The `userId`, `anonymousId` or `sessionId` takes more than 512 bytes.
    public static let identifierTooLong = Self(kind: .identifierTooLong)
    /// The event takes more than 1 MiB, or the body exceeds a limit.
    public static let tooLarge = Self(kind: .tooLarge)
    /// The event nests deeper than 64 levels.
    public static let tooDeep = Self(kind: .tooDeep)

    /// All codes that this version knows.
    public static let allCases = RejectionCode.allCases.map(Self.init(kind:))

    private init(kind: RejectionCode) {
        self.kind = kind
    }

    /// The code with this stable text; `nil` if this version does not know it.
    public init?(rawValue: String) {
        guard let kind = RejectionCode(rawValue: rawValue) else { return nil }
        self.kind = kind
    }

    /// The stable text, such as `missing-required`.
    public var rawValue: String { kind.rawValue }

    /// The stable text.
    public var description: String { rawValue }
}
