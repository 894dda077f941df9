import EventModel
import EventPipeline
import Journal
import PipelineTestKit
import Testing

@Suite("The room of a quarantine")
struct QuarantineRoomTests {
    private static let capacity = 20_000

    private static func verdict(_ original: String = "{}") -> Rejection {
        let violation = Violation(code: .wrongType, path: "$", expected: "a", found: "b")
        return Rejection(index: 0, id: nil, name: nil, violations: [violation], original: Array(original.utf8))
    }

    private static func refuse(_ count: Int, in quarantine: Quarantine) async throws(JournalError) {
        let catalog = EventCatalog.scripted(["A": ["alpha"]])
        let batch = EventBatch.scripted(catalog: catalog, events: [ScriptedEvent("A", number: 7)])
        for _ in 0..<count {
            try await quarantine.keep([(TrackedEvent(batch: batch, index: 0), "no")], refusedBy: "alpha")
        }
    }

    private static func byteCount(_ files: SimulatedFileSystem) throws -> Int {
        try files.names().filter { $0.hasSuffix(".segment") }.reduce(0) { $0 + (files[$1]?.count ?? 0) }
    }

    @Test("senders fill three quarters of it, which is said with the way out, and what trackers refuse has all of it")
    func reserve() async throws {
        let (verdicts, refusals, log) = (SimulatedFileSystem(seed: 1), SimulatedFileSystem(seed: 2), RecordingLog())
        let quarantine = try Quarantine(
            verdicts: verdicts,
            refusals: refusals,
            capacityInBytes: Self.capacity,
            logger: log.logger,
            now: { Timestamp(microseconds: 1_700_000_000_123_000, fractionDigits: 3) }
        )
        for _ in 0..<200 { quarantine.keep([Self.verdict()], source: "http", planVersion: nil) }
        #expect(quarantine.statistics.lost > 0)
        let filled = try Self.byteCount(verdicts)
        #expect(filled <= Self.capacity * 3 / 4 && filled > Self.capacity * 3 / 4 - 300)
        let line = try #require(log.errors.first)
        #expect(line.contains("may have 15000"))
        #expect(line.contains("quarantine.capacityInBytes"))

        let error = await #expect(throws: JournalError.self) { try await Self.refuse(200, in: quarantine) }
        #expect(error?.code == .full)
        #expect(error?.message.contains("may have 20000") == true)
        let all = try Self.byteCount(verdicts) + Self.byteCount(refusals)
        #expect(all <= Self.capacity && all > Self.capacity - 400)
    }

    @Test("what trackers refused counts against the senders")
    func shared() async throws {
        let quarantine = try Quarantine(
            verdicts: SimulatedFileSystem(seed: 1),
            refusals: SimulatedFileSystem(seed: 2),
            capacityInBytes: Self.capacity,
            logger: RecordingLog().logger,
            now: Timestamp.now
        )
        await #expect(throws: JournalError.self) { try await Self.refuse(200, in: quarantine) }
        quarantine.keep([Self.verdict()], source: "http", planVersion: nil)
        #expect(quarantine.statistics.lost == 1)
    }
}
