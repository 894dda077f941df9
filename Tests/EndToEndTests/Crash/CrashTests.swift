import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

/// The number of crashes; `make crash-test N=200` sets it.
private let crashes = ProcessInfo.processInfo.environment["SLUICE_CRASHES"].flatMap(Int.init) ?? 20

/// Crashes `sluice serve` and its destinations while clients send; every acknowledged event must be delivered.
@Suite("sluice serve and crashes", .timeLimit(.minutes(crashes > 20 ? 60 : 5)))
struct CrashTests {
    @Test(
        "while the server is killed at random moments, no acknowledged event is lost",
        .promise("killed-process", "interrupted-commit")
    )
    func killed() async throws {
        let scene = try await CrashScene(.shared())
        try await scene.play {
            for _ in 0..<crashes {
                let server = try await scene.serve()
                try await scene.waitForAcknowledged(further: .random(in: 1...300), by: server)
                server.process.send(SIGKILL)
                #expect(try await server.process.waitForEnd() == .signal(SIGKILL))
            }
            let server = try await scene.serve()
            try await scene.waitForAcknowledged(further: 50, by: server)
            return server
        }
    }

    @Test(
        "while PostgreSQL and the server crash and the brokers are down, no acknowledged event is lost",
        .promise("killed-process")
    )
    func outages() async throws {
        let postgres = try await PrivatePostgres()
        let scene = try await CrashScene(postgres)
        try await scene.play {
            var server = try await scene.serve()
            for round in 0..<4 {
                try await scene.waitForAcknowledged(further: .random(in: 1...100), by: server)
                try await postgres.stopImmediately()
                try await scene.waitForAcknowledged(further: .random(in: 1...200), by: server)
                if round % 2 == 1 {
                    server.process.send(SIGKILL)
                    #expect(try await server.process.waitForEnd() == .signal(SIGKILL))
                    server = try await scene.serve()
                    try await scene.waitForAcknowledged(further: 50, by: server)
                }
                try scene.cluster.goDown()
                try await scene.waitForAcknowledged(further: .random(in: 1...200), by: server)
                try await postgres.start()
                try await scene.waitForAcknowledged(further: .random(in: 1...100), by: server)
                try scene.cluster.comeUp()
            }
            return server
        }
    }

    @Test(
        "while the network goes silent and the server is killed, no acknowledged event is lost",
        .promise("interrupted-commit")
    )
    func silentNetwork() async throws {
        let postgres = try await PrivatePostgres.shared()
        let proxy = try SilentProxy(to: postgres.port)
        let scene = try await CrashScene(postgres, proxy: proxy)
        try await scene.play {
            for _ in 1...max(4, crashes / 10) {
                let server = try await scene.serve()
                try await scene.waitForAcknowledged(further: .random(in: 1...100), by: server)
                proxy.goSilent(afterBytes: .random(in: 1...20_000))
                await proxy.waitForSilence()
                // The backend still waits for the rest of the input, and holds the tracker's lock.
                try await scene.waitForAcknowledged(further: .random(in: 1...100), by: server)
                server.process.send(SIGKILL)
                #expect(try await server.process.waitForEnd() == .signal(SIGKILL))
            }
            let server = try await scene.serve()
            try await scene.waitForAcknowledged(further: 50, by: server)
            return server
        }
    }

    #if os(Linux)
    @Test(
        "while the journal's disk is full, no event is acknowledged, and no acknowledged event is lost",
        .promise("full-disk")
    )
    func fullDisk() async throws {
        let scene = try await CrashScene(.shared())
        // An event that is larger than the free space.
        let large = try scene.folder.write(scene.load.event(padding: 60_000).text, to: "large.ndjson")
        try await scene.play {
            var server = try await scene.serve()
            for round in 0..<3 {
                try await scene.waitForAcknowledged(further: 50, by: server)
                // Somewhere in the middle of a frame.
                let size = try scene.largestSegment()
                try await server.process.limitFiles(toBytes: size + .random(in: 1...40_000))
                _ = try await server.process.errors.line(containing: "The journal rejected events")
                let answer = try await server.post(file: large)
                #expect(answer.status == 503)
                #expect(answer.body.contains("not-stored"))
                while try await server.request("/readyz").status != 503 { try await waitBriefly() }
                if round == 1 {
                    server.process.send(SIGKILL)
                    #expect(try await server.process.waitForEnd() == .signal(SIGKILL))
                    server = try await scene.serve()
                } else {
                    try await server.process.limitFiles(toBytes: nil)
                }
            }
            try await scene.waitForAcknowledged(further: 50, by: server)
            return server
        }
    }

    @Test(
        "while the journal's disk hangs, no event is acknowledged; acknowledged events survive a kill and a shutdown",
        .promise("hanging-disk")
    )
    func hangingDisk() async throws {
        let scene = try await CrashScene(.shared())
        let disk = try await HangingCall(.fdatasync, in: scene.folder)
        let times = ["SLUICE_JOURNAL_COMMIT_OVERDUE_SECONDS": "1", "SLUICE_SHUTDOWN_TIMEOUT_SECONDS": "1"]
        let environment = times.merging(disk.environment) { $1 }
        var refused: [String] = []
        try await scene.play {
            var server = try await scene.serve(environment: environment)
            for round in 0..<max(3, crashes / 20) {
                try await scene.waitForAcknowledged(further: .random(in: 1...100), by: server)
                try disk.hang()
                while try await server.request("/readyz").status != 503 {
                    try await waitBriefly()
                }
                let (id, event) = scene.load.event()
                #expect(try await server.post(event).status == 503)
                refused.append(id)
                if round % 3 > 0 {
                    let signal = round % 3 == 1 ? SIGKILL : SIGTERM
                    server.process.send(signal)
                    #expect(try await server.process.waitForEnd() == (signal == SIGKILL ? .signal(signal) : .exit(1)))
                    try disk.answer()
                    server = try await scene.serve(environment: environment)
                } else {
                    try disk.answer()
                }
            }
            try await scene.waitForAcknowledged(further: 50, by: server)
            return server
        }
        #expect(Set(try await scene.stored()).isDisjoint(with: refused))
    }
    #endif
}

extension CrashScene {
    /// The size of the journal's largest segment.
    fileprivate func largestSegment() throws -> Int {
        let journal = folder.url.appending(path: "journal")
        let files = try FileManager.default.contentsOfDirectory(at: journal, includingPropertiesForKeys: [.fileSizeKey])
        return try files.compactMap { try $0.resourceValues(forKeys: [.fileSizeKey]).fileSize }.max() ?? 0
    }
}
