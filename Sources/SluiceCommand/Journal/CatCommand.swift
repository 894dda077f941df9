import ArgumentParser
import EventJournal

/// `sluice journal cat`: prints the events of a journal.
struct CatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cat",
        abstract: "Print a journal's events, one per line.",
        discussion: """
            Changes nothing, and works while a server writes the journal; it prints the events that were there when it \
            started. Damage and gaps are reported on standard error. The output is exactly the stored bytes, except that \
            control characters are escaped if it goes to a terminal.

            Exits with 0 if all events in the range were printed, and 1 if some are damaged or missing.
            """
    )

    @OptionGroup var journal: JournalFolder

    @Option(
        help: ArgumentHelp(
            "The number of the first event to print. Default: that of the oldest event.",
            valueName: "number"
        )
    )
    var from: UInt64?

    @Option(help: ArgumentHelp("The maximum number of events to print. Default: all.", valueName: "number"))
    var limit: Int?

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit takes a number of at least 1.") }
    }

    func run() async throws {
        let isWhole = try await journal.read { journal in
            var printing = Printing(from: from ?? 0, limit: limit ?? .max)
            return try printing.run(journal)
        }
        if !isWhole { throw ExitCode(1) }
    }
}

/// Copies lines from a journal to standard output.
private struct Printing {
    private static let pieceBytes = 256 << 10

    private let from: UInt64
    private var remaining: Int
    private var output: [UInt8] = []
    private var isWhole = true
    /// Damage and gaps that are not reported yet, because they may lie before the range.
    private var findings: [String] = []

    init(from: UInt64, limit: Int) {
        self.from = from
        remaining = limit
        output.reserveCapacity(Self.pieceBytes)
    }

    /// Prints the events, and returns whether none were damaged or missing.
    mutating func run(_ journal: ExistingJournal) throws -> Bool {
        do {
            try walk(journal)
        } catch let error as FileError {
            // The events that were read before the error are printed.
            try flush()
            throw error
        }
        try flush()
        return isWhole
    }

    private mutating func walk(_ journal: ExistingJournal) throws {
        var walk = try JournalWalk(journal.files, from: from)
        walking: while remaining > 0 {
            switch try walk.next() {
            case .frame(let header, let lines, _): try add(header, lines)
            case .damage(let damage): findings.append(damage.description)
            case .gap(let gap): findings.append(gap.description)
            case .retired(let segment): findings.append("\(segment.text) was removed before it could be read")
            case .unfinished, .passed: continue
            case .end: break walking
            }
        }
        if remaining > 0 { reportFindings() }
    }

    private mutating func add(_ header: FrameHeader, _ lines: UnsafeRawBufferPointer) throws {
        if header.firstSequence > from { reportFindings() } else { findings = [] }
        let part = header.lines(lines, from: from, limit: remaining)
        remaining -= part.count
        output.append(contentsOf: part.bytes)
        if output.count >= Self.pieceBytes { try flush() }
    }

    private mutating func reportFindings() {
        for finding in findings { Terminal.printError("\(finding)") }
        isWhole = isWhole && findings.isEmpty
        findings = []
    }

    private mutating func flush() throws {
        try Terminal.write(output)
        output.removeAll(keepingCapacity: true)
    }
}
