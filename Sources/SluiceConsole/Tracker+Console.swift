public import TrackerKit

extension Tracker where Self == ConsoleTracker {
    /// A tracker that writes a line an event to standard output; the plan's events name it by `name`.
    public static func console(
        _ format: ConsoleConfiguration.Format = .pretty,
        name: String = ConsoleConfiguration.defaultName
    ) -> ConsoleTracker {
        ConsoleTracker(ConsoleConfiguration(name: name, format: format))
    }
}
