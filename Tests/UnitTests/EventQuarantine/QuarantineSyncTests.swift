import EventJournal
import EventModel
import EventQuarantine
import EventValidation
import Foundation
import Logging
import PipelineTestSupport
import SluiceTesting
import TestCases
import TestPromises
import Testing
import TrackerKit

@Suite("A quarantine and the syncs of its disk", .timeLimit(.minutes(5)))
struct QuarantineSyncTests {
    private static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private static func quarantine(_ verdicts: any FileSystem, _ refusals: any FileSystem) throws -> Quarantine {
        try Quarantine(
            verdicts: verdicts,
            refusals: refusals,
            capacities: (1 << 20, 1 << 20),
            logger: silent,
            now: { Timestamp(microseconds: 1_700_000_000_123_000, fractionDigits: 3) }
        )
    }

    private static func keepVerdict(_ quarantine: Quarantine) {
        let violation = Violation(code: .wrongType, path: "$", expected: "a", found: "b")
        let rejection = Rejection(index: 0, id: nil, name: nil, violations: [violation], original: [0x7B, 0x7D])
        quarantine.keep([rejection], source: "http", planVersion: nil)
    }

    private static func refusals(_ numbers: Range<Int>) -> [(event: TrackedEvent, reason: String)] {
        let catalog = EventCatalog.scripted(["A": ["alpha"]])
        let batch = EventBatch.scripted(catalog: catalog, events: numbers.map { ScriptedEvent("A", number: $0) })
        return numbers.indices.map { (TrackedEvent(batch: batch, index: $0 - numbers.lowerBound), "no") }
    }

    @Test("a verdict is written while a refused event is being synced", .promise("slow-quarantine"))
    func verdictDuringSync() async throws {
        let refusals = HookedFileSystem(SimulatedFileSystem(seed: 2))
        let quarantine = try Self.quarantine(SimulatedFileSystem(seed: 1), refusals)
        let isWritten = Gate(isClosed: true)
        refusals.setHook {
            Self.keepVerdict(quarantine)
            Task {
                await quarantine.drain()
                isWritten.open()
            }
            // If the verdict waited for the sync, the sync would wait for the verdict here, until the test's time is up.
            isWritten.pass()
        }
        try await isWritten.openAfter {
            try await quarantine.keep(Self.refusals(0..<1), refusedBy: "alpha")
        }
        refusals.setHook(nil)
        #expect(quarantine.statistics.kept > 1)
        #expect(quarantine.statistics.lost == 0)
    }

    @Test(
        "whatever fails, a stored refused event is there once, also after a crash",
        .promise("full-quarantine"),
        arguments: SimulationSeeds.upTo(200)
    )
    func retries(seed: UInt64) async throws {
        let files = SimulatedFileSystem(seed: seed)
        let quarantine = try Self.quarantine(SimulatedFileSystem(seed: seed), files)
        files.setFailures(400)
        for number in 0..<5 {
            while true {
                do {
                    try await quarantine.keep(Self.refusals(number..<number + 1), refusedBy: "alpha")
                    break
                } catch {
                    #expect(error.code == .unwritable)
                }
            }
        }
        files.setFailures(0)
        #expect(quarantine.statistics == QuarantineStatistics(kept: 5, lost: 0))
        let expected = (0..<5).map { ScriptedEvent("A", number: $0).canonicalJSON }
        #expect(try Self.events(in: files) == expected)
        #expect(try Self.events(in: files.crashedCopy()) == expected)
    }

    private static func events(in files: SimulatedFileSystem) throws -> [String] {
        try JournalSample.lines(of: files).sorted { $0.key < $1.key }.map { line in
            String(decoding: Quarantine.original(ofLine: line.value.utf8) ?? [], as: UTF8.self)
        }
    }
}
