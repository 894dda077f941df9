import Testing

/// Calls that are banned in this project, each with its replacement.
struct BannedCallRule: Sendable, CustomTestStringConvertible {
    /// The text that is banned in code.
    let text: String
    /// The folders in which it is banned, as prefixes of paths.
    let folders: [String]
    /// The folders in which it is allowed nevertheless.
    var exceptions: [String] = []
    /// The replacement.
    let instead: String

    var testDescription: String { text }

    private static let everywhere = ["Sources/", "Plugins/", "Tests/", "Benchmarks/", "Examples/", "Fuzz/"]
    private static let product = ["Sources/", "Plugins/"]

    static let all = [
        BannedCallRule(text: "try!", folders: everywhere, instead: "throw, or handle the error"),
        BannedCallRule(text: "as!", folders: everywhere, instead: "use as? and decide what else it may be"),
        BannedCallRule(
            text: "fatalError(",
            folders: product,
            instead: "use precondition for our own bugs, and throw for what comes from outside"
        ),
        BannedCallRule(
            text: "Task.detached",
            folders: product,
            exceptions: ["Sources/EventPipeline/Journal/Pipeline+Journal.swift"],
            instead: "let the work live in the run() of a Service"
        ),
        BannedCallRule(text: "NSLock", folders: everywhere, instead: "use Synchronization.Mutex"),
        BannedCallRule(text: "NSRecursiveLock", folders: everywhere, instead: "use Synchronization.Mutex"),
        BannedCallRule(text: "DispatchQueue", folders: product, instead: "use a Mutex, or a thread of its own"),
        BannedCallRule(text: "DispatchSemaphore", folders: everywhere, instead: "use a continuation"),
        BannedCallRule(
            text: "print(",
            folders: ["Sources/"],
            exceptions: [
                "Sources/JustTrack/Trackers/TrackerConsole.swift",
                "Sources/SluiceCommand/Support/Terminal/Terminal.swift",
            ],
            instead: "use the logger you were given, and in a command Terminal, which notices what was not written"
        ),
        BannedCallRule(
            text: "O_CLOEXEC",
            folders: ["Sources/"],
            exceptions: [
                "Sources/EventJournal/Files/PosixFileSystem.swift", "Sources/EventModel/Files/RegularFile.swift",
                "Sources/SluiceFile/Writing/ArchiveFolder.swift",
            ],
            instead: "open files with RegularFile, which follows no symbolic link and waits for no pipe"
        ),
        BannedCallRule(
            text: "Data(contentsOf:",
            folders: ["Sources/"],
            exceptions: ["Sources/event-codegen/"],
            instead: "read files with RegularFile, which follows no symbolic link and waits for no pipe"
        ),
        BannedCallRule(
            text: ".socketOption(.tcp_",
            folders: everywhere,
            instead: "use tcpOption: for sockets, the number means SO_DEBUG, which only root may set"
        ),
        BannedCallRule(text: "@testable", folders: ["Tests/"], instead: "use package access"),
        BannedCallRule(text: ".disabled(", folders: ["Tests/"], instead: "repair the test, or remove it"),
        BannedCallRule(text: ".enabled(if", folders: ["Tests/"], instead: "fail, and say what is missing"),
        BannedCallRule(text: "withKnownIssue", folders: ["Tests/"], instead: "repair it"),
    ]

    func findings(in file: TextFile, code: [String]) -> [Finding] {
        guard folders.contains(where: file.path.hasPrefix), !exceptions.contains(where: file.path.hasPrefix) else {
            return []
        }
        guard file.text.containsBytes(text) else { return [] }
        return code.enumerated().compactMap { index, line in
            guard line.containsBytes(text), stands(in: line) else { return nil }
            return Finding(path: file.path, line: index + 1, sentence: "no \(text) here: \(instead)")
        }
    }

    /// Whether the text is in a line as a separate word: `print(` is not in `fingerprint(` or `.print(`.
    private func stands(in line: String) -> Bool {
        var rest = line[...]
        while let range = rest.firstRange(of: text) {
            let before = line[..<range.lowerBound].last
            let isPart = before.map { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." } ?? false
            if !isPart || text.hasPrefix(".") || text.hasPrefix("@") { return true }
            rest = line[range.upperBound...]
        }
        return false
    }
}
