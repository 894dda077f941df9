/// A typed event that does not follow the plan; nothing of it was taken.
public struct InvalidEvent: Error, Sendable, Hashable, CustomStringConvertible {
    /// The event's name on the wire.
    public let name: String
    /// The rules it broke, up to `Rejection.maximumViolations`; never empty.
    public let violations: [Violation]

    /// Always false: the same event fails in the same way again.
    public var isRetryable: Bool { false }

    /// The rules it broke, each with its place in the plan; never the values.
    public var description: String {
        let sentences = violations.map { violation in
            let place = violation.location.map { " (\($0))" } ?? ""
            return "\(violation.path): expected \(violation.expected), found \(violation.found)"
                + " [\(violation.code.rawValue)]\(place)"
        }
        return "'\(name)' does not follow the plan: " + sentences.joined(separator: "; ")
    }
}
