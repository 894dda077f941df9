/// A typed event that does not follow the plan, and was therefore not accepted.
public struct InvalidEvent: Error, Sendable, Hashable, CustomStringConvertible {
    /// The event's name in the plan.
    public let name: String
    /// The rules that it broke, up to `Rejection.maximumViolations`; never empty.
    public let violations: [Violation]

    /// Always false: the same event fails again.
    public var isRetryable: Bool { false }

    /// The rules that it broke, each with its place in the plan, without the values.
    public var description: String {
        let sentences = violations.map { violation in
            let place = violation.location.map { " (\($0))" } ?? ""
            return "\(violation.path): expected \(violation.expected), found \(violation.found)"
                + " [\(violation.code.rawValue)]\(place)"
        }
        return "'\(name)' does not follow the plan: " + sentences.joined(separator: "; ")
    }
}
