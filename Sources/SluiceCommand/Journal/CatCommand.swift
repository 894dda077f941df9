import ArgumentParser
import EventJournal

/// `sluice journal cat`: the events of a journal as they stand in it.
struct CatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cat",
        abstract: "Print a journal's events, a line each, and nothing else.",
        discussion: """
            Changes nothing, and works while a server writes the journal; it ends with what was there when it began. Damage \
            and gaps on the way go to standard error. To a file or a pipe it writes the bytes as they stand; on a terminal \
            what that would obey is escaped.

            Exits with 0 when all events in the range were printed, 1 when some are damaged or missing.
            """
    )

    @OptionGroup var journal: JournalFolder

    @Option(help: ArgumentHelp("Begin with the event of this number.", valueName: "number"))
    var from: UInt64 = 0

    @Option(help: ArgumentHelp("Print so many events at most.", valueName: "number"))
    var limit: Int?

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit takes a number of at least 1.") }
    }

    func run() async throws {
        let folder = try await journal.path()
        let isWhole = try JournalCommand.attempt {
            var printing = Printing(from: from, limit: limit ?? .max)
            return try printing.run(ExistingJournal(reading: folder))
        }
        if !isWhole { throw ExitCode(1) }
    }
}

/// Copies lines from a journal to standard output.
private struct Printing {
    private static let pieceBytes = 256 << 10

    private let from: UInt64
    private var rest: Int
    private var output: [UInt8] = []
    private var isWhole = true
    /// What was found and is to be told once it is known that it does not lie before the range.
    private var findings: [String] = []

    init(from: UInt64, limit: Int) {
        self.from = from
        rest = limit
        output.reserveCapacity(Self.pieceBytes)
    }

    /// Returns whether nothing was damaged or missing.
    mutating func run(_ journal: ExistingJournal) throws -> Bool {
        do {
            try walk(journal)
        } catch let error as FileError {
            // What could be read before comes out all the same.
            try flush()
            throw error
        }
        try flush()
        return isWhole
    }

    private mutating func walk(_ journal: ExistingJournal) throws {
        var walk = try JournalWalk(journal.files, from: from)
        walking: while rest > 0 {
            switch try walk.next() {
            case .frame(let header, let lines, _): try add(header, lines)
            case .damage(let damage): findings.append(damage.description)
            case .gap(let gap): findings.append(gap.description)
            case .retired(let segment): findings.append("\(segment.text) was removed before it could be read")
            case .unfinished, .passed: continue
            case .end: break walking
            }
        }
        if rest > 0 { tell() }
    }

    private mutating func add(_ header: FrameHeader, _ lines: UnsafeRawBufferPointer) throws {
        if header.firstSequence > from { tell() } else { findings = [] }
        let part = header.lines(lines, from: from, limit: rest)
        rest -= part.count
        output.append(contentsOf: part.bytes)
        if output.count >= Self.pieceBytes { try flush() }
    }

    private mutating func tell() {
        for finding in findings { Terminal.printError("\(finding)") }
        isWhole = isWhole && findings.isEmpty
        findings = []
    }

    private mutating func flush() throws {
        try Terminal.write(output)
        output.removeAll(keepingCapacity: true)
    }
}
