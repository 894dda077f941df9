public import EventPipeline

extension Tracker where Self == ConsoleTracker {
    /// A tracker that writes a line an event to standard output.
    public static func console(_ format: ConsoleConfiguration.Format = .pretty) -> ConsoleTracker {
        ConsoleTracker(ConsoleConfiguration(format: format))
    }
}
