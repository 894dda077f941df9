/// The trackers that come with this library.
public enum TrackerType: Sendable {
    /// Prints each event to standard output; its name is `console`.
    case consoleLogger
}
