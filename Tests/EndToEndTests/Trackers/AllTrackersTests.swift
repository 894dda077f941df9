import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

/// The example data with a tracker of every type at once.
///
/// Each test takes about half a minute: target-postgres starts for each delivery and needs more than a second for that, and a
/// destination hangs until the time limits of the trackers have passed.
@Suite("sluice with a tracker of every type", .timeLimit(.minutes(5)))
struct AllTrackersTests {
    @Test(
        "every destination has each event that it accepts, although it ends, hangs and refuses others",
        .promise("outage", "rejected-rows")
    )
    func faults() async throws {
        let scene = try await TrackerScene()
        let server = try await scene.serve()
        try await scene.post(0..<60, to: server)
        try await scene.settle(by: server)

        let stopped = TrackerScene.trackers.filter { $0 != "console" }
        try await scene.fail(stopped, of: server, sending: 60..<120) { try await scene.stopDestinations() }
        try await scene.restartDestinations()
        try await scene.settle(by: server)

        let hanging = ["postgres", "kafka", "crm", "lake", "partner", "centre"]
        try await scene.fail(hanging, of: server, sending: 120..<180) { try await scene.hangDestinations() }
        try await scene.waitForLockedTarget()
        try scene.continueDestinations()
        try await scene.settle(by: server)

        try await scene.post(180..<scene.events.count, to: server)
        try await finish(scene, server)
    }

    @Test(
        "every destination has each event that it accepts, although sluice is killed ten times while they end and hang",
        .promise("killed-process")
    )
    func killed() async throws {
        let scene = try await TrackerScene()
        for round in 0..<10 {
            let server = try await scene.serve()
            switch round {
            case 2:
                try await scene.settle(by: server)
                try await scene.stopDestinations()
            case 4: try await scene.restartDestinations()
            case 5: try await scene.hangDestinations()
            case 7: try scene.continueDestinations()
            default: break
            }
            try await scene.post(round * 25..<round * 25 + 25, to: server)
            switch round {
            case 0, 8: try await scene.settle(by: server)
            case 5: try await scene.waitForHangingTarget()
            default: break
            }
            server.process.send(SIGKILL)
            #expect(try await server.process.waitForEnd() == .signal(SIGKILL))
            // A killed process may take a moment to end; one that was left behind never would.
            while !scene.processes.isEmpty { try await waitBriefly() }
        }
        let server = try await scene.serve()
        try await scene.post(250..<scene.events.count, to: server)
        try await finish(scene, server)
    }

    /// Ends the server once it has delivered everything, and checks the destinations and what is left.
    private func finish(_ scene: TrackerScene, _ server: ServingSluice) async throws {
        try await scene.settle(by: server)
        let program = try await scene.program()
        #expect(scene.processes.contains(program))
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        try scene.checkLeftovers()
        try await scene.check()
    }
}
