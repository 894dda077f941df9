/// The types a property can have.
///
/// More may be added, so a `switch` over them needs a `default`.
public struct PropertyType: Sendable, Hashable, BitwiseCopyable, RawRepresentable, Codable, CaseIterable,
    CustomStringConvertible
{
    /// The types as cases, for a `switch` that the compiler holds to be complete, and for the tables of the check.
    package enum Kind: String, Sendable, Hashable, CaseIterable, BitwiseCopyable {
        case string, integer, number, decimal, boolean, timestamp, date, uuid, array, object, any
    }

    package let kind: Kind

    private init(_ kind: Kind) {
        self.kind = kind
    }

    /// The type of a name as it is written in a plan; `nil` if there is none.
    public init?(rawValue: String) {
        guard let kind = Kind(rawValue: rawValue) else { return nil }
        self.init(kind)
    }

    /// The name as it is written in a plan.
    public var rawValue: String { kind.rawValue }

    /// The name as it is written in a plan.
    public var description: String { kind.rawValue }

    /// All types.
    public static let allCases = Kind.allCases.map(PropertyType.init(_:))

    /// Unicode text without NUL.
    public static let string = Self(.string)
    /// A 64-bit signed integer; `1.0` is one, as in JSON Schema.
    public static let integer = Self(.integer)
    /// An IEEE 754 double, never infinite or NaN.
    public static let number = Self(.number)
    /// An exact decimal number; on the wire a JSON number of at most 15 significant digits, or a string.
    public static let decimal = Self(.decimal)
    /// `true` or `false`.
    public static let boolean = Self(.boolean)
    /// A moment, as an RFC 3339 `date-time`.
    public static let timestamp = Self(.timestamp)
    /// A day, as an RFC 3339 `full-date`.
    public static let date = Self(.date)
    /// A UUID in the text form of RFC 9562, in either case.
    public static let uuid = Self(.uuid)
    /// A JSON array.
    public static let array = Self(.array)
    /// A JSON object.
    public static let object = Self(.object)
    /// Any JSON value but null, unless nullable.
    public static let any = Self(.any)
}
