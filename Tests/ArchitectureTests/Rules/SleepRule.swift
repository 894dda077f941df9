/// Nobody sleeps: what takes time takes a clock, and a test waits for what it waits for.
///
/// Calls in strings count, too: a shell and PostgreSQL can sleep as well.
enum SleepRule {
    private static let folders = ["Sources/", "Plugins/", "Tests/", "Examples/", "Fuzz/"]
    private static let exceptions = [
        // These sleep on the clock that they were given, or are such a clock and its tests.
        "Sources/TrackerKit/PipelineClock.swift",
        "Sources/SluiceTesting/ManualClock.swift",
        "Sources/SluiceCommand/Check/DestinationCheck.swift",
        "Sources/SluiceCommand/Replay/ReplayRate.swift",
        "Tests/UnitTests/SluiceTesting/ManualClockTests.swift",
        // The contract holds trackers to limits in real time, against real destinations.
        "Sources/SluiceTesting/TrackerContract+Deliveries.swift",
        // Here the rule is tested.
        "Tests/ArchitectureTests/",
    ]

    static func findings(in file: TextFile) -> [Finding] {
        guard folders.contains(where: file.path.hasPrefix), !exceptions.contains(where: file.path.hasPrefix) else {
            return []
        }
        return file.lines.enumerated().compactMap { index, line in
            guard line.containsBytes("sleep"), !line.drop(while: { $0 == " " }).hasPrefix("//"), sleeps(line) else {
                return nil
            }
            let sentence = "nobody sleeps: take a clock as an argument, or wait for what you wait for"
            return Finding(path: file.path, line: index + 1, sentence: sentence)
        }
    }

    /// A call whose name ends in `sleep`, or the command: `.sleep(for: …)`, `pg_sleep(1)`, `"sleep"`, `sleep 1`.
    private static func sleeps(_ line: Substring) -> Bool {
        line.contains(/sleep\s*\(|"sleep"|\bsleep +[0-9.$]/)
    }
}
