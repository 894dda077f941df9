import EventJournal
import EventModel
import PipelineTestSupport
import TestCases
import Testing

/// Writes, fails, crashes and opens a journal again, and compares it with a list in memory.
final class JournalSimulation {
    private let seed: UInt64
    private let configuration: JournalConfiguration
    private let files: SimulatedFileSystem
    private var random: SeededGenerator
    private var journal: Journal
    private var writer: JournalWriter
    private let id: JournalID
    private var nextEvent = 0
    /// By number, what was acknowledged and must be there.
    private(set) var acknowledged: [UInt64: String] = [:]
    /// The numbers of what was acknowledged before a sync that did not fail, or survived a crash.
    private var saved: Set<UInt64> = []
    /// The numbers of what was acknowledged and then told to be lost, perhaps.
    private var givenUp: Set<UInt64> = []
    private(set) var losses = 0
    /// By number, everything that was ever acknowledged.
    private var everAcknowledged: [UInt64: String] = [:]
    private var everRefused: Set<String> = []
    private(set) var refusals = 0
    private(set) var crashes = 0
    private(set) var preallocations = 0

    init(seed: UInt64, durability: JournalConfiguration.Durability) throws {
        self.seed = seed
        configuration = .small(durability)
        files = SimulatedFileSystem(seed: seed ^ 0x5EED)
        random = SeededGenerator(seed: seed)
        journal = try Journal(files, configuration: configuration, now: 0)
        writer = JournalWriter(journal)
        id = journal.id
    }

    func run(steps: Int) throws {
        for _ in 0..<steps {
            switch Int.random(in: 0..<20, using: &random) {
            case 0: try crash()
            case 1: try closeAndOpen()
            case 2...4 where isTimed: sync()
            case 3...5: preallocate()
            case 2: files.setFailures(Bool.random(using: &random) ? 0 : Int.random(in: 0..<400, using: &random))
            default: commit()
            }
        }
        try crash()
    }

    private var isTimed: Bool { if case .interval = configuration.durability.kind { true } else { false } }

    private func sync() {
        // Syncs that fail in a row are what is hard.
        let failures = Bool.random(using: &random) ? 0 : 500
        files.setFailures(failures)
        defer { files.setReadFailures(0) }
        if failures > 0 { files.setReadFailures(Int.random(in: 0..<300, using: &random)) }
        do {
            try writer.sync()
            saved.formUnion(Set(acknowledged.keys).subtracting(givenUp))
        } catch {
            refusals += 1
            // What could not be read to be written again is told, and may be lost.
            if error.message.contains("rewrite") {
                givenUp.formUnion(Set(acknowledged.keys).subtracting(saved))
                losses += 1
            }
        }
        if failures == 0 || Bool.random(using: &random) { files.setFailures(0) }
    }

    private func commit() {
        let entries = (0..<Int.random(in: 1...4, using: &random)).map { _ in
            let lines = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                nextEvent += 1
                let filling = String(repeating: "x", count: Int.random(in: 0..<300, using: &random))
                return "{\"event\":\(nextEvent),\"filling\":\"\(filling)\"}"
            }
            return (lines, SampleEntry(lines))
        }
        let lines = entries.flatMap(\.0)
        do {
            let first = try writer.commit(entries.map(\.1), now: Int64(nextEvent))
            for (position, line) in lines.enumerated() {
                let number = first + UInt64(position)
                if let before = everAcknowledged[number] {
                    Issue.record("number \(number) was given to \(before) and to \(line), seed \(seed)")
                }
                acknowledged[number] = line
                everAcknowledged[number] = line
            }
        } catch {
            refusals += 1
            everRefused.formUnion(lines)
        }
    }

    private var segmentBytes: Int {
        files.withState { state in
            state.files.reduce(0) { $1.key.hasSuffix(".segment") ? $0 + state.contents[$1.value].current.count : $0 }
        }
    }

    private func preallocate() {
        let before = segmentBytes
        writer.preallocate()
        if segmentBytes > before { preallocations += 1 }
    }

    private func crash() throws {
        crashes += 1
        files.crash()
        try open()
    }

    private func closeAndOpen() throws {
        let writer = replaceWriter()
        try? writer.close(now: Int64(nextEvent))
        try crash()
    }

    private func replaceWriter() -> JournalWriter {
        var old = JournalWriter(journal)
        swap(&old, &writer)
        return old
    }

    private func open() throws {
        files.setFailures(0)
        journal = try Journal(files, configuration: configuration, now: Int64(nextEvent))
        writer = JournalWriter(journal)
        try check()
    }

    private func check() throws {
        #expect(journal.id == id, "seed \(seed)")
        let found = try JournalContents(journal)
        #expect(found.order == found.order.sorted(), "seed \(seed)")
        #expect(Set(found.order).count == found.order.count, "seed \(seed)")
        for (number, line) in found.lines where everAcknowledged[number] != line {
            #expect(everAcknowledged[number] == nil && everRefused.contains(line), "event \(number), seed \(seed)")
        }
        for (number, line) in acknowledged where configuration.durability == .fsync {
            #expect(found.lines[number] == line, "event \(number) is lost, seed \(seed)")
        }
        for number in saved where isTimed {
            #expect(found.lines[number] == everAcknowledged[number], "event \(number) is lost, seed \(seed)")
        }
        if configuration.durability == .fsync {
            let findings = "\(journal.recovery.sentences) \(found.damages), seed \(seed)"
            #expect(journal.recovery.isIntact && found.damages.isEmpty, "\(findings)")
        }
        acknowledged = acknowledged.filter { found.lines[$0.key] != nil }
        saved = Set(acknowledged.keys)
        givenUp = []
        let highest = everAcknowledged.keys.max() ?? 0
        #expect(journal.position.nextSequence > highest || everAcknowledged.isEmpty, "seed \(seed)")
    }
}
