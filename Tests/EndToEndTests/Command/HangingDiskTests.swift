#if os(Linux)
import ServerTestSupport
import Foundation
import TestPromises
import Testing

/// `sluice serve` on a disk whose `fdatasync` never returns.
@Suite("sluice serve with a disk that hangs", .timeLimit(.minutes(5)))
struct HangingDiskTests {
    private static func event(_ id: String) -> String {
        #"{"id":"\#(id)","name":"Sold","payload":{"quantity":1}}"#
    }

    private let ids = (0..<4).map { _ in UUID().uuidString.lowercased() }

    private func start(
        _ disk: HangingCall,
        in folder: TestFolder,
        _ settings: [String: String] = [:]
    ) async throws -> ServingSluice {
        let plan = try folder.write(Plans.shop(minimumQuantity: 1), to: "events/shop.plist")
        let environment = ["SLUICE_JOURNAL_COMMIT_OVERDUE_SECONDS": "1"].merging(settings) { $1 }
        let sluice = try await ServingSluice.start(
            "--max-wait",
            "2",
            in: folder,
            plan: plan,
            environment: environment.merging(disk.environment) { $1 }
        )
        try await postUntilTaken(ids[0], to: sluice)
        return sluice
    }

    /// Sends an event until it is accepted, because even a working disk may be slower than a request's limit.
    private func postUntilTaken(_ id: String, to sluice: ServingSluice) async throws {
        while try await sluice.post(Self.event(id)).status != 200 { try await waitBriefly() }
    }

    /// Makes the disk hang, sends an event whose commit hangs with it, and returns the answer.
    ///
    /// Tries again after a 503, which means that the commit did not begin in time and nothing was accepted.
    private func postIntoHang(
        _ id: String,
        to sluice: ServingSluice,
        _ disk: HangingCall
    ) async throws -> ServingSluice.Answer {
        while true {
            try await sluice.waitUntilReady()
            try disk.hang()
            let answer = try await sluice.post(Self.event(id), "-i")
            guard answer.status == 503 else { return answer }
            try disk.answer()
            try Task.checkCancellation()
        }
    }

    @Test(
        "a request whose commit is being written is answered with 504, later ones with 503 at once, until the disk responds",
        .promise("hanging-disk")
    )
    func goesOn() async throws {
        let folder = try TestFolder()
        let disk = try await HangingCall(.fdatasync, in: folder)
        let sluice = try await start(disk, in: folder)
        let first = try await postIntoHang(ids[1], to: sluice, disk)
        #expect(first.status == 504)
        #expect(first.body.contains(#"{"error":{"code":"outcome-unknown","#))
        #expect(!first.body.lowercased().contains("retry-after"))
        while try await sluice.request("/readyz").status != 503 { try await waitBriefly() }
        #expect(try await sluice.request("/readyz").status == 503)
        let second = try await sluice.post(Self.event(ids[2]), "-i")
        #expect(second.status == 503)
        #expect(second.body.contains(#"{"error":{"code":"not-stored","#))
        #expect(second.body.lowercased().contains("retry-after"))
        _ = try await sluice.process.errors.line(containing: "The journal's disk does not answer")
        try disk.answer()
        try await sluice.waitUntilReady()
        try await postUntilTaken(ids[3], to: sluice)
        sluice.process.send(SIGTERM)
        #expect(try await sluice.process.waitForEnd() == .exit(0))
        // The second event was not accepted; the first was, in the end.
        let delivered = Set(EndToEndTests.ids(of: sluice.process.output?.lines ?? []))
        #expect(delivered == [ids[0], ids[1], ids[3]])
    }

    @Test(
        "SIGTERM still ends the process, with exit status 1 and an error that says what is unknown",
        .promise("hanging-disk-at-shutdown")
    )
    func terminates() async throws {
        let folder = try TestFolder()
        let disk = try await HangingCall(.fdatasync, in: folder)
        let sluice = try await start(disk, in: folder, ["SLUICE_SHUTDOWN_TIMEOUT_SECONDS": "1"])
        #expect(try await postIntoHang(ids[1], to: sluice, disk).status == 504)
        sluice.process.send(SIGTERM)
        #expect(try await sluice.process.waitForEnd() == .exit(1))
        #expect(
            sluice.process.errors.text.contains("Whether the 1 event of the commit under way is in it is unknown")
        )
        try disk.answer()
    }
}
#endif
