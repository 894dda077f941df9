import EventJournal
import Foundation
import ServerTestSupport
import Testing

/// `sluice journal repair` and `sluice journal forget`.
@Suite("sluice journal repair and forget", .timeLimit(.minutes(5)))
struct JournalChangeTests {
    private static let lines = (0..<11).map { "{\"event\":\($0)}" }
    private static let segment = "00000000000000000004.segment"

    /// A terminal into which a text was typed.
    private final class Typing {
        let terminal: URL
        private let descriptor: Int32

        init(_ text: String) throws {
            descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
            // TIOCSPTLCK and TIOCGPTN, because glibc declares `unlockpt` and `ptsname` only with a feature macro.
            var isLocked: Int32 = 0
            var number: Int32 = 0
            try #require(ioctl(descriptor, 0x4004_5431, &isLocked) == 0)
            try #require(ioctl(descriptor, 0x8004_5430, &number) == 0)
            terminal = URL(fileURLWithPath: "/dev/pts/\(number)")
            try #require(write(descriptor, text, text.utf8.count) == text.utf8.count)
        }

        deinit {
            close(descriptor)
        }
    }

    /// A journal of 3 segments with damage in two frames of the second.
    private func damaged() throws -> TestFolder {
        let folder = try TestFolder()
        try JournalFolder.write(Self.lines, in: folder)
        var bytes = try Data(contentsOf: folder.url.appending(path: "journal/\(Self.segment)"))
        bytes[20] ^= 1
        bytes[2 * 68 + 60] ^= 1
        try folder.write(bytes, to: "journal/\(Self.segment)")
        return folder
    }

    private func isDamaged(_ folder: TestFolder) async throws -> Bool {
        try await Sluice.run("journal", "verify", "journal", in: folder).ending != .exit(0)
    }

    @Test("repair moves damaged regions to separate files in the journal's folder, and verify then finds no damage")
    func repair() async throws {
        let folder = try damaged()
        let before = try Data(contentsOf: folder.url.appending(path: "journal/\(Self.segment)"))
        let run = try await Sluice.run("journal", "repair", "journal", "--yes", in: folder)
        #expect(run.ending == .exit(0))
        #expect(run.errors == [])
        #expect(run.output.last?.hasSuffix("moved to \(Self.segment).136.cut") == true)
        #expect(try Data(contentsOf: folder.url.appending(path: "journal/\(Self.segment).0.cut")) == before[..<68])
        #expect(
            try Data(contentsOf: folder.url.appending(path: "journal/\(Self.segment).136.cut")) == before[136..<204]
        )
        let verified = try await Sluice.run("journal", "verify", "journal", in: folder)
        #expect(verified.ending == .exit(0))
        #expect(verified.output.count == 2)
        #expect(verified.output.allSatisfy { $0.hasPrefix("note: no event has the numbers ") })
        let cat = try await Sluice.run("journal", "cat", "journal", in: folder)
        #expect(cat.ending == .exit(0))
        #expect(cat.output == Self.lines[..<4] + [Self.lines[5]] + Self.lines[7...])
        let from = try await Sluice.run("journal", "cat", "journal", "--from", "7", "--limit", "1", in: folder)
        #expect(from.output == [Self.lines[7]])
        let journal = try Journal(folder: folder.path("journal"), now: 0)
        #expect(journal.recovery.sentences == [])
        #expect(journal.position.nextSequence == 11)
    }

    @Test(
        "repair asks for confirmation, and changes the journal only if the answer is yes",
        arguments: [("y\n", true), ("n\n", false), ("\n", false)]
    )
    func asks(answer: String, repairs: Bool) async throws {
        let folder = try damaged()
        let typing = try Typing(answer)
        let run = try await Sluice.run("journal", "repair", "journal", in: folder, input: .file(typing.terminal))
        #expect(run.ending == .exit(repairs ? 0 : 1))
        #expect(run.errors.joined().contains("Move these 2 regions"))
        #expect(try await isDamaged(folder) == !repairs)
    }

    @Test(
        "without a terminal and without --yes, repair and forget change nothing",
        arguments: ["repair journal", "forget kafka journal"]
    )
    func refuses(line: String) async throws {
        let folder = try damaged()
        _ = try CursorFile(PosixFileSystem(path: folder.path("journal")), tracker: "kafka")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("journal")).sorted()
        let run = try await Sluice.run(["journal"] + line.split(separator: " ").map(String.init), in: folder)
        #expect(run.ending == .exit(1))
        #expect(run.errors == ["error: Standard input is not a terminal; use --yes to confirm the change."])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("journal")).sorted() == names)
        #expect(try await isDamaged(folder))
    }

    @Test(
        "repair and forget do not change a journal in use, and the error names the process that uses it",
        arguments: ["repair", "forget"]
    )
    func locked(command: String) async throws {
        let folder = try damaged()
        let journal = try Journal(folder: folder.path("journal"), now: 0)
        _ = try CursorFile(PosixFileSystem(path: folder.path("journal")), tracker: "kafka")
        let what = command == "forget" ? ["kafka", "journal"] : ["journal"]
        let run = try await Sluice.run(["journal", command] + what + ["--yes"], in: folder)
        #expect(run.ending == .exit(1))
        #expect(run.errors == ["error: The journal in 'journal' is in use by process \(getpid())."])
        withExtendedLifetime(journal) {}
    }

    @Test("repair reports a gap, which it cannot repair")
    func gap() async throws {
        let folder = try TestFolder()
        try JournalFolder.write(Self.lines, in: folder)
        try FileManager.default.removeItem(atPath: folder.path("journal/\(Self.segment)"))
        let run = try await Sluice.run("journal", "repair", "journal", in: folder)
        #expect(run.ending == .exit(0))
        #expect(
            run.output == [
                "events 4 to 7 are missing before 00000000000000000008.segment; a gap cannot be repaired",
                "There is no damage to repair.",
            ]
        )
    }

    @Test("forget removes a tracker's cursor, and reports a tracker that has none")
    func forget() async throws {
        let folder = try TestFolder()
        try JournalFolder.write(Self.lines, in: folder)
        let files = try PosixFileSystem(path: folder.path("journal"))
        for tracker in ["My.Kafka", "console"] {
            var cursor = try CursorFile(files, tracker: tracker)
            try cursor.move(to: 3, syncs: true)
        }
        let run = try await Sluice.run("journal", "forget", "my.KAFKA", "--yes", in: folder)
        #expect(run.ending == .exit(0))
        #expect(run.output == ["forgot the cursor of 'my.kafka', which was 8 events behind"])
        #expect(try files.names().filter { $0.hasSuffix(".cursor") } == ["console.cursor"])
        let again = try await Sluice.run("journal", "forget", "my.kafka", "--yes", in: folder)
        #expect(again.ending == .exit(1))
        #expect(again.errors == ["error: The journal has no cursor of 'my.kafka'; there are: console."])
    }
}
