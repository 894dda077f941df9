public import EventSchema

/// One problem of a tracking plan: what is wrong, where, and how to put it right.
public struct Diagnostic: Sendable, Hashable {
    /// What kind of problem it is; stable, so that tools can rely on it.
    public let code: DiagnosticCode
    /// The place of the node that is to be changed.
    public let location: PlanLocation
    /// One sentence without a full stop; it names what is wrong and, where there is a near miss, what was meant.
    public let sentence: String

    /// Whether the problem keeps the plan from being used.
    public private(set) var severity: Severity

    /// States a problem, as bad as its code says.
    public init(_ code: DiagnosticCode, at location: PlanLocation, _ sentence: String) {
        self.code = code
        self.location = location
        self.sentence = sentence
        severity = code.severity
    }

    /// The same for somebody whom it keeps from nothing.
    package var asWarning: Diagnostic {
        var warning = self
        warning.severity = .warning
        return warning
    }

    /// How bad a problem is.
    public enum Severity: String, Sendable, Hashable {
        /// The plan cannot be used.
        case error
        /// The plan can be used, and is probably not what its author meant.
        case warning
    }
}

extension Diagnostic: CustomStringConvertible {
    /// `path:line:column: error: sentence [code]`, as compilers write it.
    public var description: String {
        "\(location): \(severity.rawValue): \(sentence) [\(code.rawValue)]"
    }
}
