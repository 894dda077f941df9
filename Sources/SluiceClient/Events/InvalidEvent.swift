/// A typed event that does not follow the plan, and was therefore not queued.
public struct InvalidEvent: Error, Sendable, Hashable, CustomStringConvertible {
    /// A rule that the event broke.
    public struct Violation: Sendable, Hashable {
        /// The code that the server has for it, such as `out-of-range`.
        public let code: String
        /// Where in the event, as a JSONPath (RFC 9535): `$.payload.quantity`.
        public let path: String
        /// What the plan asks for.
        public let expected: String
    }

    /// The event's name in the plan.
    public let name: String
    /// The rules that it broke; never empty.
    public let violations: [Violation]

    /// Always false: the same event fails again.
    public var isRetryable: Bool { false }

    /// The rules that it broke, without the values.
    public var description: String {
        let sentences = violations.map { "\($0.path): expected \($0.expected) [\($0.code)]" }
        return "'\(name)' does not follow the plan: " + sentences.joined(separator: "; ")
    }
}
