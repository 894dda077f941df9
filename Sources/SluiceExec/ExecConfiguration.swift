/// How Sluice and a program talk to each other.
public enum ExecProtocol: String, Sendable, Hashable, CaseIterable {
    /// The program is started once, reads deliveries, and answers each with a line.
    case lines
    /// The program is a target of Singer, which is run once for each delivery.
    case singer
}

/// How a Singer target gets decimal numbers.
public enum SingerDecimals: String, Sendable, Hashable, CaseIterable {
    /// As strings with all their digits, of the format `x-singer.decimal`.
    case strings
    /// As numbers, for targets that do not know that format.
    ///
    /// The schema has `multipleOf`. An event with more than 19 digits before a decimal's point or 9 after it is refused.
    case numbers
}

/// Which program gets the events, and how.
public struct ExecConfiguration: Sendable {
    /// The tracker's default name.
    public static let defaultName = "exec"

    /// The name that refers to the tracker in the plan.
    ///
    /// Default: `exec`.
    public var name: String
    /// The program and its arguments; a program without a slash is searched for in the `PATH` that it gets.
    public var command: [String]
    /// How Sluice and the program talk to each other.
    ///
    /// Default: `lines`.
    public var `protocol`: ExecProtocol
    /// How a Singer target gets decimal numbers.
    ///
    /// Default: `strings`.
    public var decimals: SingerDecimals
    /// Further environment variables, each as `NAME=value`, or as `NAME` for the value that this process has.
    ///
    /// The program has `PATH`, `HOME`, `LANG` and `TZ` of this process, and `SLUICE_TRACKER`, the tracker's name; nothing else.
    public var environment: [String]
    /// Environment variables whose values are in files, each as `NAME=path`; the files are read whenever the program is started.
    public var environmentFiles: [String]
    /// The program's working directory; `nil` for that of this process.
    public var workingDirectory: String?
    /// How long the program may take for a delivery.
    ///
    /// Default: 60 s, and 15 min for a Singer target, which gets far more events at a time.
    public var timeout: Duration {
        get { statedTimeout ?? (self.protocol == .singer ? .seconds(900) : .seconds(60)) }
        set { statedTimeout = newValue }
    }
    /// How long the program may take to end after SIGTERM, before it and all processes of its group get SIGKILL.
    ///
    /// Default: 5 s.
    public var grace: Duration
    private var statedTimeout: Duration?

    /// Creates a configuration with the defaults of everything else.
    public init(command: [String], protocol: ExecProtocol = .lines, name: String = Self.defaultName) {
        self.name = name
        self.command = command
        self.protocol = `protocol`
        decimals = .strings
        environment = []
        environmentFiles = []
        grace = .seconds(5)
    }
}
