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
    /// Default: 60 s.
    public var timeout: Duration
    /// How long the program may take to end after SIGTERM, before it and all processes of its group get SIGKILL.
    ///
    /// Default: 5 s.
    public var grace: Duration

    /// Creates a configuration with the defaults of everything else.
    public init(command: [String], name: String = Self.defaultName) {
        self.name = name
        self.command = command
        environment = []
        environmentFiles = []
        timeout = .seconds(60)
        grace = .seconds(5)
    }
}
