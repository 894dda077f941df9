#if os(Linux)
import Foundation
import Testing

/// `sluice serve` on a disk whose `fdatasync` never returns.
@Suite("sluice serve and a disk that hangs", .timeLimit(.minutes(2)))
struct HangingDiskTests {
    private let event = #"{"name":"Sold","payload":{"quantity":1}}"#

    private func start(_ disk: HangingDisk, in folder: TestFolder) async throws -> ServingSluice {
        let plan = try folder.write(Plans.shop(minimumQuantity: 1), to: "events/shop.plist")
        let times = ["SLUICE_JOURNAL_COMMIT_OVERDUE_SECONDS": "1", "SLUICE_SHUTDOWN_TIMEOUT_SECONDS": "1"]
        let sluice = try await ServingSluice.start(
            "--max-wait",
            "1",
            in: folder,
            plan: plan,
            environment: times.merging(disk.environment) { $1 }
        )
        #expect(try await sluice.post(event).status == 200)
        return sluice
    }

    @Test("a request that is being written is answered 504, others 503 at once, and all goes on when the disk does")
    func goesOn() async throws {
        let folder = try TestFolder()
        let disk = try await HangingDisk(in: folder)
        let sluice = try await start(disk, in: folder)
        try await sluice.waitUntilReady()
        try disk.hang()
        let first = try await sluice.post(event, "-i")
        #expect(first.status == 504)
        #expect(first.body.contains(#"{"error":{"code":"outcome-unknown","#))
        #expect(!first.body.lowercased().contains("retry-after"))
        while try await sluice.request("/readyz").status != 503 { try Task.checkCancellation() }
        #expect(try await sluice.request("/readyz").body.contains("commit-overdue"))
        let second = try await sluice.post(event, "-i")
        #expect(second.status == 503)
        #expect(second.body.contains(#"{"error":{"code":"not-stored","#))
        #expect(second.body.lowercased().contains("retry-after"))
        _ = try await sluice.process.errors.line(containing: "The journal's disk does not answer")
        try disk.answer()
        try await sluice.waitUntilReady()
        #expect(try await sluice.post(event).status == 200)
        sluice.process.send(SIGTERM)
        #expect(try await sluice.process.waitForEnd() == .exit(0))
        // The second was not taken; the first was after all.
        #expect(sluice.process.output?.lines.count == 3)
    }

    @Test("SIGTERM ends the process all the same, with 1, and it says what is unknown")
    func terminates() async throws {
        let folder = try TestFolder()
        let disk = try await HangingDisk(in: folder)
        let sluice = try await start(disk, in: folder)
        try disk.hang()
        #expect(try await sluice.post(event).status == 504)
        sluice.process.send(SIGTERM)
        #expect(try await sluice.process.waitForEnd() == .exit(1))
        #expect(
            sluice.process.errors.text.contains("Whether the 1 event of the commit under way is in it is unknown")
        )
        try disk.answer()
    }
}
#endif
