import Foundation
import ServerTestSupport
import TestSupport

extension TrackerScene {
    /// Ends every destination that is a process or needs one, and takes away the disk of the files.
    ///
    /// Everything is delivered: rsyslog has to read what its kernel has acknowledged, which its end would lose.
    func stopDestinations() async throws {
        try await waitForRsyslog()
        try await rsyslog.stop()
        try await centre.crash()
        try await postgres.stopImmediately()
        try cluster.goDown()
        receiver.stop()
        let program = try await program()
        try folder.write("", to: "down")
        kill(program, SIGKILL)
        try FileManager.default.moveItem(atPath: folder.path("disk"), toPath: folder.path("elsewhere"))
    }

    /// Starts them again.
    func restartDestinations() async throws {
        try FileManager.default.moveItem(atPath: folder.path("elsewhere"), toPath: folder.path("disk"))
        try FileManager.default.removeItem(atPath: folder.path("down"))
        try await receiver.restart()
        try cluster.comeUp()
        try await postgres.start()
        try await centre.restart()
        try await rsyslog.start()
    }

    /// Makes every destination hang that can; files would hang with the journal, which has tests of its own.
    ///
    /// rsyslog's kernel acknowledges events all the same, so its tracker notices nothing.
    func hangDestinations() async throws {
        for (database, table) in [(database, "analytics.item_purchased"), (warehouse, "item_purchased")] {
            let session = try postgres.openSession(database.name)
            try await session.runLong("BEGIN; LOCK TABLE \(table); SELECT 'locked';")
            locks.append(session)
        }
        try cluster.setDelay(milliseconds: 600_000)
        try receiver.setMode("hang")
        centre.suspend()
        try rsyslog.suspend()
        try folder.write("", to: "hang")
        kill(try await program(), SIGSTOP)
    }

    /// Waits until a run of target-jsonl hangs.
    func waitForHangingTarget() async throws {
        while !FileManager.default.fileExists(atPath: folder.path("hanging")) {
            try await waitBriefly()
        }
    }

    /// Waits until a run of target-postgres waits for a lock.
    func waitForLockedTarget() async throws {
        let waiting = """
            SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
            WHERE NOT granted AND datname = current_database()
            """
        while try await warehouse.run(waiting) == ["0"] { try await waitBriefly() }
    }

    /// Lets the destinations continue.
    func continueDestinations() throws {
        for lock in locks { try lock.close() }
        locks = []
        // A request that waits for its response would keep waiting, so close the connections.
        try cluster.goDown()
        try cluster.setDelay(milliseconds: 0)
        try cluster.comeUp()
        try takeRequests()
        centre.resume()
        try rsyslog.resume()
        try FileManager.default.removeItem(atPath: folder.path("hang"))
    }

    /// The process of the program of the tracker `crm`, which may be about to start.
    func program() async throws -> pid_t {
        while true {
            if let process = folder.lines(of: "crm.process").first.flatMap({ pid_t($0) }), isRunning(process) {
                return process
            }
            try await waitBriefly()
        }
    }

    /// Waits until rsyslog has written every event, which it has read a moment after its kernel has acknowledged it.
    func waitForRsyslog() async throws {
        while !Set(Self.ids(in: rsyslog.lines)).isSuperset(of: acknowledged) {
            try await waitBriefly()
        }
    }
}
