/// How the console shows events.
public struct ConsoleConfiguration: Sendable {
    /// How an event becomes a line.
    public enum Format: String, Sendable, CaseIterable {
        /// For people: the time, the name, who, and the payload as `key=value`.
        case pretty
        /// For programs: the canonical JSON.
        case json
    }

    /// The tracker's default name.
    public static let defaultName = "console"

    /// The name by which the plan's events name the tracker.
    ///
    /// Default: `console`.
    public var name: String
    /// How an event becomes a line.
    ///
    /// Default: `pretty`.
    public var format: Format
    /// The descriptor that lines are written to, which stays its owner's to close.
    ///
    /// Default: standard output.
    public var fileDescriptor: Int32

    /// Takes the defaults, or what is stated instead.
    public init(name: String = Self.defaultName, format: Format = .pretty, fileDescriptor: Int32 = 1) {
        self.name = name
        self.format = format
        self.fileDescriptor = fileDescriptor
    }
}
