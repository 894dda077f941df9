import EventValidation

/// What is wrong with the required attributes of a CloudEvent, in two bytes.
struct CloudEventFaults: Hashable {
    /// What is wrong with one attribute.
    enum Fault: UInt16 {
        case none, missing, otherType, empty
    }

    private static let names = ["specversion", "type", "source", "id"]
    private static let versionBit: UInt16 = 1 << 8

    /// Two bits for each attribute, and one for another version.
    private var bits: UInt16 = 0

    var isEmpty: Bool { bits == 0 }

    /// What is wrong with an attribute, by its place in `names`.
    subscript(place: Int) -> Fault { Fault(rawValue: bits >> (2 * place) & 3) ?? .none }

    mutating func set(_ fault: Fault, at place: Int) { bits |= fault.rawValue << (2 * place) }

    /// Whether the version is a string, and not `1.0`.
    var isOtherVersion: Bool {
        get { bits & Self.versionBit != 0 }
        set { if newValue { bits |= Self.versionBit } else { bits &= ~Self.versionBit } }
    }

    /// The faults as a verdict says them.
    var violations: [Violation] {
        var violations = Self.names.enumerated().compactMap { place, name -> Violation? in
            let (code, found): (VerdictCode, String)
            switch self[place] {
            case .none: return nil
            case .missing: (code, found) = (.missingRequired, "nothing")
            case .otherType: (code, found) = (.wrongType, "another type")
            case .empty: (code, found) = (.missingRequired, "an empty string")
            }
            let expected = "a non-empty string as the attribute '\(name)' of a CloudEvent"
            return Violation(code: code, path: "$.\(name)", expected: expected, found: found)
        }
        if isOtherVersion {
            let expected = "'1.0' as the attribute 'specversion' of a CloudEvent"
            violations.append(
                Violation(code: .notInEnum, path: "$.specversion", expected: expected, found: "another version")
            )
        }
        return violations
    }
}
