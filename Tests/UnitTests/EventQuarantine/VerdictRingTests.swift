import EventJournal
import EventModel
import EventQuarantine
import EventValidation
import PipelineTestSupport
import SluiceTesting
import TestCases
import TestPromises
import Testing
import TrackerKit

@Suite("The quarantine of rejected events is a ring buffer", .timeLimit(.minutes(5)))
struct VerdictRingTests {
    /// The smallest ring that has several segments, which have 64 KiB at least.
    private static let ringBytes = 256 << 10
    private static let refusedBytes = 20_000

    private let verdicts = SimulatedFileSystem(seed: 1)
    private let refusals = SimulatedFileSystem(seed: 2)
    private let log = RecordingLog()

    private func quarantine() throws -> Quarantine {
        try Quarantine(
            verdicts: verdicts,
            refusals: refusals,
            capacities: (Self.ringBytes, Self.refusedBytes),
            logger: log.logger,
            clock: ManualClock(),
            now: { Timestamp(microseconds: 1_700_000_000_123_000, fractionDigits: 3) }
        )
    }

    private static func verdict(_ number: Int, bytes: Int = 1_000) -> Rejection {
        let violation = Violation(code: .wrongType, path: "$", expected: "a", found: "b")
        let text = #"{"n":\#(number),"x":"\#(String(repeating: "x", count: bytes))"}"#
        return Rejection(index: 0, id: nil, name: nil, violations: [violation], original: Array(text.utf8))
    }

    /// Keeps a verdict, and returns once it is written, so that each has a frame of its own.
    private static func keep(_ verdict: Rejection, in quarantine: Quarantine) async {
        quarantine.keep([verdict], source: "http", planVersion: nil)
        await quarantine.drain()
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

    /// The numbers of the events that the ring has.
    private func numbers() throws -> [Int] {
        var walk = try JournalWalk(verdicts)
        var numbers: [Int] = []
        while true {
            switch try walk.next() {
            case .frame(_, let bytes, _):
                let lines = try #require(VerdictRecords.lines(of: bytes))
                numbers += String(decoding: lines, as: UTF8.self).matches(of: /"n":(\d+)/).compactMap { Int($0.1) }
            case .end: return numbers
            default: continue
            }
        }
    }

    @Test(
        "at its limit the oldest segment is removed, counted and logged, and the newest verdict is stored",
        .promise("rejected-event-flood")
    )
    func ring() async throws {
        let quarantine = try quarantine()
        for number in 0..<1_000 {
            await Self.keep(Self.verdict(number), in: quarantine)
            #expect(try Self.byteCount(verdicts) <= Self.ringBytes + FrameHeader.byteCount)
        }
        let numbers = try numbers()
        #expect(numbers == Array((1_000 - numbers.count)..<1_000))
        #expect(numbers.count > 100)
        let expected = QuarantineStatistics(kept: 1_000, lost: 0, overwritten: 1_000 - numbers.count)
        #expect(quarantine.statistics == expected)
        #expect(log.all.count { $0.contains("the oldest were removed to make room") } == 1)
        #expect(log.errors.isEmpty)
    }

    @Test("a process that reopens it continues the ring buffer")
    func reopening() async throws {
        for part in 0..<4 {
            let quarantine = try quarantine()
            for number in 0..<250 {
                await Self.keep(Self.verdict(part * 250 + number), in: quarantine)
            }
        }
        let numbers = try numbers()
        #expect(numbers == Array((1_000 - numbers.count)..<1_000))
        #expect(numbers.count > 100)
        #expect(try Self.byteCount(verdicts) <= Self.ringBytes + 4 * FrameHeader.byteCount)
    }

    @Test("a write that does not fit into an empty ring buffer is counted and logged, and removes nothing")
    func tooLarge() async throws {
        let quarantine = try quarantine()
        await Self.keep(Self.verdict(1), in: quarantine)
        await Self.keep(Self.verdict(2, bytes: Self.ringBytes), in: quarantine)
        #expect(try numbers() == [1])
        #expect(quarantine.statistics == QuarantineStatistics(kept: 1, lost: 1))
        #expect(log.errors.count == 1)
    }

    @Test(
        "senders that fill the ring buffer neither remove refused events nor take their space",
        .promise("rejected-event-flood")
    )
    func apart() async throws {
        let quarantine = try quarantine()
        try await Self.refuse(10, in: quarantine)
        let before = try Self.byteCount(refusals)
        for number in 0..<1_000 { await Self.keep(Self.verdict(number), in: quarantine) }
        #expect(quarantine.statistics.overwritten > 0)
        #expect(try Self.byteCount(refusals) == before)
        try await Self.refuse(10, in: quarantine)
    }

    @Test("refused events are stored up to their limit, then the error names the remedy", .promise("full-quarantine"))
    func refusalsLimit() async throws {
        let quarantine = try quarantine()
        let error = await #expect(throws: JournalError.self) { try await Self.refuse(200, in: quarantine) }
        #expect(error?.code == .full)
        #expect(error?.message.contains("its limit is \(Self.refusedBytes). Export it") == true)
        #expect(error?.message.contains("quarantine.capacityInBytes") == true)
        let bytes = try Self.byteCount(refusals)
        #expect(bytes <= Self.refusedBytes && bytes > Self.refusedBytes - 400)
        // That keeps no sender's verdict out.
        await Self.keep(Self.verdict(1), in: quarantine)
        #expect(try numbers() == [1])
    }
}
