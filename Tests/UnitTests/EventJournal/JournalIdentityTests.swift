import EventJournal
import EventModel
import PipelineTestSupport
import TestCases
import Testing

@Suite("A journal's identity")
struct JournalIdentityTests {
    private func open(_ files: SimulatedFileSystem) throws -> Journal {
        try Journal(files, configuration: .small(), now: 0)
    }

    @Test("is made at the first opening, and stays the same across crashes", arguments: 0..<50)
    func kept(seed: UInt64) throws {
        let files = SimulatedFileSystem(seed: seed)
        let id = try open(files).id
        #expect(try open(files.crashedCopy()).id == id)
        #expect(try open(files).id == id)
        #expect(try open(files).recovery.sentences == [])
        #expect(try Inspection(files).id == id)
    }

    @Test("an interrupted opening leaves no identity or a complete one", arguments: 0..<100)
    func failing(seed: UInt64) throws {
        let files = SimulatedFileSystem(seed: seed)
        files.setFailures(400)
        let id = try? open(files).id
        files.crash()
        files.setFailures(0)
        let journal = try open(files)
        #expect(id == nil || journal.id == id)
        #expect(journal.recovery.sentences == [])
    }

    @Test("a journal of a version without identities gets one at the next opening")
    func older() throws {
        let sample = try JournalSample()
        try sample.files.remove("identity")
        #expect(try Inspection(sample.files).id == nil)
        let journal = try open(sample.files)
        #expect(try Inspection(sample.files).id == journal.id)
        #expect(journal.recovery.sentences == [])
        #expect(try JournalContents(journal).lines == sample.lines)
    }

    @Test("an unreadable identity is replaced, and that is reported", arguments: [0, 5, 36])
    func unreadable(length: Int) throws {
        let files = SimulatedFileSystem(seed: 1)
        let id = try open(files).id
        files["identity"] = Array((files["identity"] ?? []).prefix(length))
        let journal = try open(files)
        #expect(journal.id != id)
        #expect(journal.recovery.sentences == ["identity could not be read; the journal has a new identity"])
        #expect(try open(files).id == journal.id)
    }

    @Test("is a UUID of version 4 and nothing else")
    func text() throws {
        let ids = (0..<1000).map { _ in JournalID() }
        #expect(Set(ids).count == 1000)
        for id in ids {
            #expect(JournalID(id.description) == id)
            #expect(JournalID(id.description.uppercased()) == id)
            #expect(
                id.description.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/)
                    != nil
            )
        }
        let good = "0190a2b4-0000-4000-8000-00000000000f"
        for bad in [
            "", good + "0", good.replacing("-", with: ""), good.replacing("f", with: "g"), " " + good, "’" + good,
        ] {
            #expect(JournalID(bad) == nil, "\(bad)")
        }
    }
}

@Suite("The checkpoint beside a cursor")
struct CursorCheckpointTests {
    @Test(
        "is stored with the cursor, and removed if a move has none",
        arguments: [1, 1 << 32, 1 << 40 | 7, .max >> 1] as [UInt64]
    )
    func kept(checkpoint: UInt64) throws {
        let files = SimulatedFileSystem(seed: 1)
        var cursor = try CursorFile(files, tracker: "postgres")
        try cursor.move(to: 9, checkpoint: checkpoint, syncs: true)
        for found in [cursor, try CursorFile(files, tracker: "postgres")] {
            #expect(found.sequence == 9)
            #expect(found.checkpoint == checkpoint)
        }
        try cursor.move(to: 10, syncs: true)
        let found = try CursorFile(files, tracker: "postgres")
        #expect(found.sequence == 10)
        #expect(found.checkpoint == nil)
    }
}
