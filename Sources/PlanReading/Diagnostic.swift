public import EventSchema

/// A problem in a tracking plan: what is wrong, where, and how to fix it.
public struct Diagnostic: Sendable, Hashable {
    /// What kind of problem it is; stable, so that tools can rely on it.
    public let code: DiagnosticCode
    /// The place in the file that has to be changed.
    public let location: PlanLocation
    /// One sentence without a full stop, which states the problem and usually how to fix it.
    public let sentence: String

    /// Whether the plan can be used in spite of the problem.
    public private(set) var severity: Severity

    /// States a problem; its severity is that of its code.
    package init(_ code: DiagnosticCode, at location: PlanLocation, _ sentence: String) {
        self.code = code
        self.location = location
        self.sentence = sentence
        severity = code.severity
    }

    /// The same problem as a warning, for a caller that it does not affect.
    package var asWarning: Diagnostic {
        var warning = self
        warning.severity = .warning
        return warning
    }

    /// How bad a problem is.
    ///
    /// More degrees may be added.
    public struct Severity: Sendable, Hashable, CustomStringConvertible {
        package enum Kind: String, Sendable, Hashable {
            case error, warning
        }

        package let kind: Kind

        /// The plan cannot be used.
        public static let error = Self(kind: .error)
        /// The plan can be used, and is probably not what its author meant.
        public static let warning = Self(kind: .warning)

        /// `error` or `warning`, as it is printed.
        public var rawValue: String { kind.rawValue }

        /// The same as `rawValue`.
        public var description: String { kind.rawValue }
    }
}

extension Diagnostic: CustomStringConvertible {
    /// `path:line:column: error: sentence [code]`, as compilers write it.
    public var description: String {
        "\(location): \(severity.rawValue): \(sentence) [\(code.rawValue)]"
    }
}
