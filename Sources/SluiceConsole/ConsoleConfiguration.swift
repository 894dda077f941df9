/// How the console tracker writes events.
public struct ConsoleConfiguration: Sendable {
    /// The form of a line.
    public struct Format: Sendable, Hashable, RawRepresentable, CaseIterable, CustomStringConvertible {
        package enum Kind: String, CaseIterable {
            case pretty
            case json
        }

        package let kind: Kind

        /// For people: the time, the name, the user, and the payload as `key=value`.
        public static let pretty = Self(kind: .pretty)
        /// For programs: the canonical JSON.
        public static let json = Self(kind: .json)
        /// All forms that this version knows.
        public static let allCases = Kind.allCases.map(Self.init(kind:))

        private init(kind: Kind) {
            self.kind = kind
        }

        /// Creates a form from its name; `nil` if this version has none of that name.
        public init?(rawValue: String) {
            guard let kind = Kind(rawValue: rawValue) else { return nil }
            self.kind = kind
        }

        /// The name: `pretty` or `json`.
        public var rawValue: String { kind.rawValue }

        /// The name.
        public var description: String { rawValue }
    }

    /// The tracker's default name.
    public static let defaultName = "console"

    /// The name that refers to the tracker in the plan.
    ///
    /// Default: `console`.
    public var name: String
    /// The form of a line.
    ///
    /// Default: `pretty`.
    public var format: Format
    /// The file descriptor that lines are written to; the tracker does not close it.
    ///
    /// Default: 1, standard output.
    public var fileDescriptor: Int32

    /// Creates a configuration.
    public init(name: String = Self.defaultName, format: Format = .pretty, fileDescriptor: Int32 = 1) {
        self.name = name
        self.format = format
        self.fileDescriptor = fileDescriptor
    }
}
