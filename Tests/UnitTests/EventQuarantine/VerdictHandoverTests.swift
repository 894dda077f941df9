import EventJournal
import EventModel
import EventPipeline
import EventQuarantine
import EventValidation
import PipelineTestSupport
import SluiceTesting
import TestPromises
import Testing

@Suite("Verdicts handed to the thread that writes them", .timeLimit(.minutes(5)))
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
            clock: ManualClock(),
            now: { Timestamp(microseconds: 1_700_000_000_123_000, fractionDigits: 3) }
        )
    }

    @Test(
        "losses are logged again after a minute, even if the wall clock was set back by a week",
        .promise("clock-jump")
    )
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
        clock.advance(by: .seconds(60))
        quarantine.keep([Self.rejection(1)], source: "http", planVersion: nil)
        #expect(log.errors.count == 2)
    }

    /// Keeps a verdict on which the disk stands still, runs `body`, lets the disk go on, and waits for what was handed over.
    private static func withStuckDisk(
        _ verdicts: HookedFileSystem,
        _ quarantine: Quarantine,
        _ body: () async throws -> Void
    ) async throws {
        let disk = Gate(isClosed: true)
        for setHook in [verdicts.setHook, verdicts.setWriteHook] { setHook { disk.pass() } }
        quarantine.keep([rejection(0)], source: "http", planVersion: nil)
        try await disk.openAfter {
            await disk.waitForSomebody()
            try await body()
        }
        await quarantine.drain()
    }

    @Test(
        "storing a verdict neither writes nor syncs on the caller, nor waits for a hanging disk",
        .promise("slow-quarantine")
    )
    func waitsForNothing() async throws {
        let verdicts = HookedFileSystem(SimulatedFileSystem(seed: 1))
        let quarantine = try Self.quarantine(verdicts)
        try await Self.withStuckDisk(verdicts, quarantine) {
            // Each of these would wait for the disk if it touched it, and the test would not end.
            for number in 1..<10 { quarantine.keep([Self.rejection(number)], source: "http", planVersion: nil) }
            #expect(quarantine.unwrittenEvents == 10)
            #expect(quarantine.statistics == QuarantineStatistics())
        }
        #expect(quarantine.unwrittenEvents == 0)
        #expect(quarantine.statistics == QuarantineStatistics(kept: 10))
    }

    @Test(
        "a full handover counts and sparsely logs its losses, and accepts verdicts again when there is room",
        .promise("slow-quarantine")
    )
    func full() async throws {
        let verdicts = HookedFileSystem(SimulatedFileSystem(seed: 1))
        let log = RecordingLog()
        let quarantine = try Self.quarantine(verdicts, log: log)
        var lost = 0
        try await Self.withStuckDisk(verdicts, quarantine) {
            for number in 1..<1_000 { quarantine.keep([Self.rejection(number)], source: "http", planVersion: nil) }
            lost = quarantine.statistics.lost
            #expect(lost > 900 && lost + quarantine.unwrittenEvents == 1_000)
            #expect(log.errors.count == 1)
        }
        #expect(quarantine.statistics == QuarantineStatistics(kept: 1_000 - lost, lost: lost))
        quarantine.keep([Self.rejection(1_000)], source: "http", planVersion: nil)
        await quarantine.drain()
        #expect(quarantine.statistics == QuarantineStatistics(kept: 1_001 - lost, lost: lost))
    }

    @Test("a write error is counted and logged, and the next verdict is written again")
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
        #expect(log.all.last == "Rejected events are stored again. events=1 seconds=0.0")
    }

    @Test("a cancelled drain returns although the disk hangs")
    func cancelledDrain() async throws {
        let verdicts = HookedFileSystem(SimulatedFileSystem(seed: 1))
        let quarantine = try Self.quarantine(verdicts)
        try await Self.withStuckDisk(verdicts, quarantine) {
            let waiter = Waiter()
            let drain = Task { await waiter.drain(quarantine) }
            // The actor is free again once the drain waits.
            while await !waiter.hasBegun { try Task.checkCancellation() }
            drain.cancel()
            await drain.value
            #expect(quarantine.unwrittenEvents == 1)
        }
        #expect(quarantine.statistics == QuarantineStatistics(kept: 1))
    }

    @Test("everything handed over is written before run returns", .promise("slow-quarantine"))
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

/// Waits for a quarantine on an actor, so that others can see that it waits.
private actor Waiter {
    private(set) var hasBegun = false

    func drain(_ quarantine: Quarantine) async {
        hasBegun = true
        await quarantine.drain()
    }
}
