import EventModel
import EventPipeline
import Journal
import PipelineTestKit
import Testing

@Suite("Verdicts that are handed to the thread that writes them", .timeLimit(.minutes(1)))
struct VerdictHandoverTests {
    private static func rejection(_ number: Int) -> Rejection {
        let violation = Violation(code: .wrongType, path: "$", expected: "a", found: "b")
        let text = #"{"n":\#(number)}"#
        return Rejection(index: 0, id: nil, name: nil, violations: [violation], original: Array(text.utf8))
    }

    private static func quarantine(
        _ verdicts: any FileSystem,
        handoverCapacityInBytes: Int = 10_000,
        log: RecordingLog = RecordingLog()
    ) throws -> Quarantine {
        try Quarantine(
            verdicts: verdicts,
            refusals: SimulatedFileSystem(seed: 2),
            capacities: (1 << 20, 1 << 20),
            handoverCapacityInBytes: handoverCapacityInBytes,
            logger: log.logger,
            now: { Timestamp(microseconds: 1_700_000_000_123_000, fractionDigits: 3) }
        )
    }

    @Test("what is lost is said again after ten seconds, though the wall clock was put back by a week")
    func wallClockBack() throws {
        let (clock, log, wall) = (ManualClock(), RecordingLog(), Watched(Int64(1_700_000_000_000_000)))
        let quarantine = try Quarantine(
            verdicts: SimulatedFileSystem(seed: 1),
            refusals: SimulatedFileSystem(seed: 2),
            capacities: (1 << 20, 1 << 20),
            handoverCapacityInBytes: 0,
            logger: log.logger,
            clock: clock,
            now: { Timestamp(microseconds: wall.value) }
        )
        quarantine.keep([Self.rejection(1)], source: "http", planVersion: nil)
        #expect(log.errors.count == 1)
        wall.update { $0 -= 7 * 86_400_000_000 }
        quarantine.keep([Self.rejection(1)], source: "http", planVersion: nil)
        #expect(log.errors.count == 1)
        clock.advance(by: .seconds(10))
        quarantine.keep([Self.rejection(1)], source: "http", planVersion: nil)
        #expect(log.errors.count == 2)
    }

    /// Keeps a verdict, and returns once the disk stands still with it, until the gate is opened.
    private static func keepOne(in quarantine: Quarantine, onStuck verdicts: HookedFileSystem) async -> Gate {
        let goesOn = Gate(isClosed: true)
        let (stuck, continuation) = AsyncStream.makeStream(of: Void.self)
        verdicts.setWriteHook {
            continuation.finish()
            goesOn.pass()
        }
        quarantine.keep([rejection(0)], source: "http", planVersion: nil)
        for await _ in stuck {}
        return goesOn
    }

    @Test("who keeps a verdict neither writes nor syncs, and waits for no disk that stands still")
    func waitsForNothing() async throws {
        let verdicts = HookedFileSystem(SimulatedFileSystem(seed: 1))
        let quarantine = try Self.quarantine(verdicts)
        let goesOn = await Self.keepOne(in: quarantine, onStuck: verdicts)
        // The disk stands still from here on; each of these would wait for it if it touched it, and the test would not end.
        for number in 1..<10 { quarantine.keep([Self.rejection(number)], source: "http", planVersion: nil) }
        #expect(quarantine.unwrittenEvents == 10)
        #expect(quarantine.statistics == QuarantineStatistics())
        verdicts.setWriteHook(nil)
        goesOn.open()
        await quarantine.drain()
        #expect(quarantine.unwrittenEvents == 0)
        #expect(quarantine.statistics == QuarantineStatistics(kept: 10))
    }

    @Test("a full handover counts what it loses, logs it once in a while, and takes verdicts again when there is room")
    func full() async throws {
        let verdicts = HookedFileSystem(SimulatedFileSystem(seed: 1))
        let log = RecordingLog()
        let quarantine = try Self.quarantine(verdicts, log: log)
        let goesOn = await Self.keepOne(in: quarantine, onStuck: verdicts)
        for number in 1..<1_000 { quarantine.keep([Self.rejection(number)], source: "http", planVersion: nil) }
        let lost = quarantine.statistics.lost
        #expect(lost > 900 && lost + quarantine.unwrittenEvents == 1_000)
        #expect(log.errors.count == 1)
        verdicts.setWriteHook(nil)
        goesOn.open()
        await quarantine.drain()
        #expect(quarantine.statistics == QuarantineStatistics(kept: 1_000 - lost, lost: lost))
        quarantine.keep([Self.rejection(1_000)], source: "http", planVersion: nil)
        await quarantine.drain()
        #expect(quarantine.statistics == QuarantineStatistics(kept: 1_001 - lost, lost: lost))
    }

    @Test("a disk that writes nothing is counted and logged, and the next verdict is tried again")
    func brokenDisk() async throws {
        let verdicts = HookedFileSystem(SimulatedFileSystem(seed: 1))
        let log = RecordingLog()
        let quarantine = try Self.quarantine(verdicts, log: log)
        verdicts.failWrites(true)
        quarantine.keep([Self.rejection(0)], source: "http", planVersion: nil)
        await quarantine.drain()
        #expect(quarantine.statistics == QuarantineStatistics(lost: 1))
        #expect(log.errors.count == 1)
        verdicts.failWrites(false)
        quarantine.keep([Self.rejection(1)], source: "http", planVersion: nil)
        await quarantine.drain()
        #expect(quarantine.statistics == QuarantineStatistics(kept: 1, lost: 1))
    }

    @Test("a drain that is cancelled returns although the disk stands still")
    func cancelledDrain() async throws {
        let verdicts = HookedFileSystem(SimulatedFileSystem(seed: 1))
        let quarantine = try Self.quarantine(verdicts)
        let goesOn = Gate(isClosed: true)
        verdicts.setWriteHook { goesOn.pass() }
        quarantine.keep([Self.rejection(0)], source: "http", planVersion: nil)
        let drain = Task { await quarantine.drain() }
        drain.cancel()
        await drain.value
        #expect(quarantine.unwrittenEvents == 1)
        verdicts.setWriteHook(nil)
        goesOn.open()
        await quarantine.drain()
        #expect(quarantine.statistics == QuarantineStatistics(kept: 1))
    }

    @Test("when a pipeline has run, what was handed over is written")
    func pipelineDrains() async throws {
        let verdicts = SimulatedFileSystem(seed: 1)
        let quarantine = try Self.quarantine(verdicts, handoverCapacityInBytes: 1 << 20)
        let harness = try PipelineHarness([], quarantine: quarantine)
        try await harness.run { pipeline, _ in
            for number in 0..<1_000 { pipeline.quarantine([Self.rejection(number)], source: "http") }
        }
        #expect(quarantine.statistics == QuarantineStatistics(kept: 1_000))
    }
}
