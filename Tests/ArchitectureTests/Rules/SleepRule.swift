/// Forbids sleeping: code takes a clock as an argument, and tests wait for conditions.
///
/// Calls in strings are forbidden as well, because a shell and PostgreSQL can sleep, too.
enum SleepRule {
    private static let folders = ["Sources/", "Plugins/", "Tests/", "Examples/", "Fuzz/"]
    private static let exceptions = [
        // They sleep on the given clock, or are such a clock or its tests.
        "Sources/EventModel/Time/RelativeClock.swift",
        "Sources/SluiceTesting/ManualClock.swift",
        "Sources/SluiceCommand/Check/DestinationCheck.swift",
        "Sources/SluiceReplay/ReplayRate.swift",
        "Tests/UnitTests/SluiceTesting/ManualClockTests.swift",
        // The contract measures real time, because its destinations are real.
        "Sources/SluiceTesting/TrackerContract+Deliveries.swift",
        // The server waits between two attempts to get a lock, so that others get it.
        "Sources/SluicePostgres/Maintenance/PatientChange.swift",
        // The server waits between two looks at transactions that have not ended.
        "Sources/SluicePostgres/Erasure/ErasureStatements.swift",
        // The tests wait between two looks at another process.
        "Tests/ServerTestSupport/WaitBriefly.swift",
        // They test this rule.
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

    /// Whether a line has a call whose name ends in `sleep`, or the command: `pg_sleep(1)`, `"sleep"`, `sleep 1`.
    private static func sleeps(_ line: Substring) -> Bool {
        line.contains(/sleep\s*\(|"sleep"|\bsleep +[0-9.$]/)
    }
}
