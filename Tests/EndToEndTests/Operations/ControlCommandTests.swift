import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

@Suite("The commands that control a running serve", .timeLimit(.minutes(5)))
struct ControlCommandTests {
    private static let plan = Plans.shop(minimumQuantity: 1).replacing("console", with: "postgres")
    private static let sold = #"{"name":"Sold","payload":{"quantity":1}}"#

    private func prepare(_ folder: TestFolder) async throws -> TestDatabase {
        try folder.write(Self.plan, to: "plan/shop.plist")
        let database = try await PrivatePostgres.shared().makeDatabase()
        let migrate = ["migrate", "--events", "plan", "--postgres", database.url]
        #expect(try await Sluice.run(migrate, in: folder).ending == .exit(0))
        return database
    }

    private func serve(_ folder: TestFolder, _ database: TestDatabase) async throws -> ServingSluice {
        try await ServingSluice.start(["--no-console", "--postgres", database.url], in: folder, plan: "plan")
    }

    private func stop(_ server: ServingSluice) async throws {
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    private struct Status: Decodable {
        struct Tracker: Decodable {
            let name: String
            let status: String
            let lagEvents: Int
            let delivered: Int
        }

        let status: String
        let trackers: [Tracker]
    }

    private func status(in folder: TestFolder) async throws -> Status {
        let run = try await Sluice.run("status", "--json", in: folder)
        return try JSONDecoder().decode(Status.self, from: Data(run.output.joined().utf8))
    }

    /// Asks until the tracker has delivered so many events.
    private func waitForDelivered(_ count: Int, in folder: TestFolder) async throws {
        while try await status(in: folder).trackers[0].delivered < count { try await waitBriefly() }
    }

    @Test("status shows how many events were rejected, and why")
    func rejections() async throws {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 3), to: "plan/shop.plist")
        let server = try await ServingSluice.start(in: folder, plan: "plan")
        let events = [3, 1, 2].map { #"{"name":"Sold","payload":{"quantity":\#($0)}}"# }
        #expect(try await server.post("[" + events.joined(separator: ",") + "]").status == 200)
        let run = try await Sluice.run("status", in: folder)
        #expect(run.output.contains("2 events rejected"), "\(run.output)")
        #expect(
            run.output.contains { $0.firstMatch(of: /^ *2 +out-of-range +Sold +\(no key\)$/) != nil },
            "\(run.output)"
        )
        let json = try await Sluice.run("status", "--json", in: folder).output.joined()
        #expect(json.contains(#""rejected":2,"#))
        #expect(
            json.contains(#""rejections":[{"code":"out-of-range","count":2,"event":"Sold","sender":"(no key)"}]"#),
            "\(json)"
        )
        try await stop(server)
    }

    @Test(
        "a paused tracker becomes lag, stays paused after a crash, and delivers everything once it is resumed",
        .promise("operator-changes")
    )
    func pause() async throws {
        let folder = try TestFolder()
        let database = try await prepare(folder)
        var server = try await serve(folder, database)
        let pause = try await Sluice.run("pause", "postgres", in: folder)
        #expect(pause.ending == .exit(0))
        _ = try await server.process.errors.line(containing: "The tracker was paused")
        #expect(try await server.post(Self.sold).status == 200)
        #expect(try await status(in: folder).trackers[0].status == "paused")
        server.process.send(SIGKILL)
        _ = try await server.process.waitForEnd()

        server = try await serve(folder, database)
        #expect(try await server.post(Self.sold).status == 200)
        let tracker = try await status(in: folder).trackers[0]
        #expect(tracker.status == "paused")
        #expect(tracker.lagEvents == 2)
        #expect(try await database.run("select count(*) from analytics.sold") == ["0"])
        try await stop(server)

        // It stays paused without a port, and the socket is there.
        let arguments = ["--no-console", "--no-admin", "--postgres", database.url]
        server = try await ServingSluice.start(arguments, in: folder, plan: "plan")
        _ = try await server.process.errors.line(containing: "The tracker is paused since an earlier run.")
        #expect(try await status(in: folder).trackers[0].status == "paused")
        try await stop(server)
        #expect(try await database.run("select count(*) from analytics.sold") == ["0"])

        server = try await serve(folder, database)
        #expect(try await Sluice.run("resume", "Postgres", in: folder).ending == .exit(0))
        try await waitForDelivered(2, in: folder)
        #expect(try await database.run("select count(*) from analytics.sold") == ["2"])
        try await stop(server)

        server = try await serve(folder, database)
        #expect(try await status(in: folder).trackers[0].status != "paused")
        try await stop(server)
    }

    @Test(
        "a setting is changed for a time: status shows it, it survives a crash, and it can be undone",
        .promise("operator-changes")
    )
    func setting() async throws {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1), to: "plan/shop.plist")
        var server = try await ServingSluice.start([], in: folder, plan: "plan")
        let level = try await Sluice.run("set", "log.level", "debug", "--for", "2h", in: folder)
        #expect(level.ending == .exit(0), "\(level.errors)")
        #expect(level.errors.last?.hasPrefix("The setting 'log.level' is debug until ") == true, "\(level.errors)")
        let linger = "trackers.console.delivery.lingerMilliseconds"
        #expect(try await Sluice.run("set", linger, "86400000", "--for", "1d", in: folder).ending == .exit(0))
        _ = try await server.process.errors.line(containing: "setting=\(linger)")
        #expect(try await server.post(Self.sold).status == 200)
        #expect(try await self.status(in: folder).trackers[0].delivered == 0)
        server.process.send(SIGKILL)
        _ = try await server.process.waitForEnd()

        server = try await ServingSluice.start([], in: folder, plan: "plan")
        let changed = try await Sluice.run("status", in: folder).output.filter { $0.hasPrefix("changed: ") }
        try #require(changed.count == 2)
        #expect(changed[0].contains("log.level is debug until 2"))
        #expect(changed[1].contains("\(linger) is 86400000 until 2"))
        #expect(changed.allSatisfy { $0.contains("(by \(NSUserName()), through the socket)") })
        #expect(try await Sluice.run("status", "--json", in: folder).output.joined().contains(#""key":"log.level""#))
        // What is left in the journal is delivered at once; later events wait for more.
        try await waitForDelivered(1, in: folder)
        #expect(try await server.post(Self.sold).status == 200)
        #expect(try await self.status(in: folder).trackers[0].delivered == 1)
        #expect(try await Sluice.run("set", linger, "--undo", in: folder).ending == .exit(0))
        try await waitForDelivered(2, in: folder)
        #expect(try await Sluice.run("set", "log.level", "--undo", in: folder).ending == .exit(0))
        #expect(try await Sluice.run("status", in: folder).output.allSatisfy { !$0.hasPrefix("changed: ") })
        try await stop(server)

        server = try await ServingSluice.start([], in: folder, plan: "plan")
        #expect(try await Sluice.run("status", in: folder).output.allSatisfy { !$0.hasPrefix("changed: ") })
        try await stop(server)
    }

    @Test("a change of the level of the log shows its own line, and later lines follow it")
    func logLevel() async throws {
        let folder = try TestFolder()
        let server = try await ServingSluice.start([], in: folder)
        #expect(try await Sluice.run("set", "log.level", "error", "--for", "90s", in: folder).ending == .exit(0))
        #expect(try await Sluice.run("pause", "console", in: folder).ending == .exit(0))
        #expect(try await Sluice.run("set", "log.level", "--undo", in: folder).ending == .exit(0))
        #expect(try await Sluice.run("resume", "console", in: folder).ending == .exit(0))
        _ = try await server.process.errors.line(containing: "The tracker was resumed.")
        let lines = server.process.errors.lines
        #expect(lines.contains { $0.contains("The setting was changed for a time.") && $0.contains("value=error") })
        #expect(lines.contains { $0.contains("The change of the setting was undone.") })
        #expect(!lines.contains { $0.contains("The tracker was paused") })
        try await stop(server)
    }

    @Test("a setting that is not safe to change, a wrong value and a change without an end are refused")
    func refusedSettings() async throws {
        let folder = try TestFolder()
        let server = try await ServingSluice.start([], in: folder)
        for (arguments, reason) in [
            (["http.listen", "0.0.0.0:80"], "these can: queue.capacityInEvents"),
            (["trackers.nobody.queue.capacityInEvents", "5"], "The trackers are: console."),
            (
                ["queue.capacityInEvents", "0"],
                "queue.capacityInEvents: expected a whole number of at least 1, found 0."
            ),
            (["queue.capacityInBytes", "many"], "queue.capacityInBytes: expected a whole number, found 'many'."),
            (
                ["delivery.lingerMilliseconds", "86400001"],
                "expected a whole number from 0 to 86400000, found 86400001."
            ),
            (["log.level", "loud"], "log.level: expected one of trace, debug"),
        ] {
            let run = try await Sluice.run(["set"] + arguments + ["--for", "1h"], in: folder)
            #expect(run.ending == .exit(1))
            #expect(run.errors.last?.contains(reason) == true, "\(run.errors)")
        }
        let notChanged = try await Sluice.run("set", "log.level", "--undo", in: folder)
        #expect(notChanged.ending == .exit(1))
        #expect(notChanged.errors.last == "error: The setting 'log.level' is not changed.")
        for arguments in [["log.level", "debug"], ["log.level", "debug", "--for", "31d"], ["log.level"]] {
            #expect(try await Sluice.run(["set"] + arguments, in: folder).ending == .exit(64))
        }
        #expect(try await Sluice.run("status", in: folder).output.allSatisfy { !$0.hasPrefix("changed: ") })
        try await stop(server)
    }

    @Test(
        "drain closes the intake, ends with 0 when all is delivered and with 1 when a tracker is blocked, and can be undone",
        .promise("drained-node")
    )
    func drain() async throws {
        let folder = try TestFolder()
        let database = try await prepare(folder)
        let server = try await serve(folder, database)
        #expect(
            try await server.post("[" + Array(repeating: Self.sold, count: 50).joined(separator: ",") + "]").status
                == 200
        )
        let drained = try await Sluice.run("drain", in: folder)
        #expect(drained.ending == .exit(0), "\(drained.errors)")
        #expect(try await database.run("select count(*) from analytics.sold") == ["50"])
        #expect(try await server.post(Self.sold).status == 503)
        #expect(try await server.request("/readyz").status == 503)
        let unready = try await Sluice.run("status", in: folder)
        #expect(unready.ending == .exit(1))
        #expect(unready.output.contains("NOT READY: intake-closed"))
        #expect(try await Sluice.run("drain", "--undo", in: folder).ending == .exit(0))
        try await database.run("alter table analytics.sold rename to hidden")
        #expect(try await server.post(Self.sold).status == 200)
        #expect(try await Sluice.run("pause", "postgres", in: folder).ending == .exit(0))
        let stuck = try await Sluice.run("drain", "--timeout", "60", in: folder)
        #expect(stuck.ending == .exit(1))
        #expect(stuck.errors.last?.contains("The tracker 'postgres' is paused, and 1 event") == true, "\(stuck.errors)")
        try await stop(server)
    }

    @Test("drain ends with 1 if a tracker refuses events meanwhile")
    func drainWithLoss() async throws {
        let folder = try TestFolder()
        let database = try await prepare(folder)
        try await database.run("alter table analytics.sold add check (quantity > 5)")
        let server = try await serve(folder, database)
        let input = Pipe()
        let lock = try SluiceProcess(
            ["-X", "-q", "-d", database.url],
            executable: URL(fileURLWithPath: "/usr/bin/psql"),
            in: folder,
            input: .pipe(input)
        )
        try input.fileHandleForWriting.write(contentsOf: Data("begin; lock analytics.sold; select 'locked';\n".utf8))
        _ = try await lock.output?.line(containing: "locked")
        #expect(try await server.post(Self.sold).status == 200)
        try await database.waitForSessions(1, waitingFor: "relation")
        let drain = try SluiceProcess(["drain"], in: folder)
        _ = try await drain.errors.line(containing: "1 event left for 'postgres'")
        try input.fileHandleForWriting.close()
        #expect(try await lock.waitForEnd() == .exit(0))
        #expect(try await drain.waitForEnd() == .exit(1))
        let last = drain.errors.lines.last ?? ""
        #expect(last.contains("The tracker 'postgres' did not deliver all events: 1 refused."), "\(last)")
        try await stop(server)
    }

    @Test("commands use the socket of the same user, or the private port with its token, and say what is wrong")
    func doors() async throws {
        let folder = try TestFolder()
        let missing = try await Sluice.run("status", in: folder)
        #expect(missing.ending == .exit(1))
        #expect(missing.errors.last?.contains("has a socket at 'journal.sock'") == true, "\(missing.errors)")
        let token = "a token for the tests"
        try folder.write(token, to: "token.txt")
        let server = try await ServingSluice.start(
            [],
            in: folder,
            environment: ["SLUICE_ADMIN_TOKEN_FILE": "token.txt"]
        )
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("journal.sock"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try await Sluice.run("status", in: folder).ending == .exit(0))
        let address = String(try await PrivatePort(of: server).url.dropFirst("http://".count))
        let refused = try await Sluice.run("status", "--admin", address, in: folder)
        #expect(refused.ending == .exit(1))
        #expect(refused.errors.last?.contains("needs the private port's token") == true, "\(refused.errors)")
        let port = ["status", "--admin", address, "--token-file", "token.txt"]
        #expect(try await Sluice.run(port, in: folder).ending == .exit(0))
        let unknown = try await Sluice.run("pause", "nobody", in: folder)
        #expect(unknown.ending == .exit(1))
        #expect(unknown.errors.last?.contains("There is no tracker of this name") == true, "\(unknown.errors)")
        try await stop(server)
        #expect(!FileManager.default.fileExists(atPath: folder.path("journal.sock")))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).allSatisfy { !$0.contains(".sock") }
        )
    }

    @Test("without a journal there is a socket only if a setting names it, and its path may not be too long")
    func socketPath() async throws {
        let folder = try TestFolder()
        let server = try await ServingSluice.start(
            ["--no-journal"],
            in: folder,
            environment: ["SLUICE_ADMIN_SOCKET": "own.sock"]
        )
        #expect(try await Sluice.run("status", "--socket", "own.sock", in: folder).ending == .exit(0))
        try await stop(server)
        let long = String(repeating: "x", count: 120)
        let run = try await serveInVain(in: folder, socket: long)
        #expect(run.contains("its path has 120 bytes, and at most 98 are possible"), "\(run)")
    }

    /// Starts `serve` with a socket that it cannot use; returns its last line.
    private func serveInVain(in folder: TestFolder, socket: String) async throws -> String {
        let run = try await Sluice.run(
            ["serve", "--no-journal", "--listen", "127.0.0.1:0", "--events", Sluice.plan],
            in: folder,
            environment: ["SLUICE_ADMIN_SOCKET": socket, "SLUICE_ADMIN_LISTEN": "127.0.0.1:0"]
        )
        #expect(run.ending == .exit(1))
        return run.errors.last ?? ""
    }

    @Test("a socket that nobody asked for does not keep serve from starting")
    func noSocket() async throws {
        let folder = try TestFolder()
        let server = try await ServingSluice.start(
            ["--journal", String(repeating: "x", count: 100)],
            in: folder
        )
        _ = try await server.process.errors.line(containing: "The socket for commands cannot be used")
        try await stop(server)
    }

    @Test("a socket replaces neither a file nor the socket of another process, and leaves nothing behind")
    func foreignSocket() async throws {
        let folder = try TestFolder()
        try folder.write("precious", to: "file.sock")
        #expect(try await serveInVain(in: folder, socket: "file.sock").contains("there is another file"))
        #expect(try String(contentsOfFile: folder.path("file.sock"), encoding: .utf8) == "precious")

        let environment = ["SLUICE_ADMIN_SOCKET": "own.sock"]
        let first = try await ServingSluice.start(["--no-journal"], in: folder, environment: environment)
        #expect(try await serveInVain(in: folder, socket: "own.sock").contains("another process uses it"))
        first.process.send(SIGKILL)
        _ = try await first.process.waitForEnd()
        // The next process replaces what a killed one has left.
        try folder.write("", to: "own.sock.abcdef/s")
        let second = try await ServingSluice.start(["--no-journal"], in: folder, environment: environment)
        #expect(try await Sluice.run("status", "--socket", "own.sock", in: folder).ending == .exit(0))
        try await stop(second)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(files.filter { $0.hasPrefix("own.sock") } == [])
    }

    @Test("tail shows events as they are accepted and rejected, and ends with the process")
    func tail() async throws {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 3), to: "plan/shop.plist")
        let server = try await ServingSluice.start([], in: folder, plan: "plan")
        let all = try SluiceProcess(["tail"], in: folder)
        let rejected = try SluiceProcess(["tail", "--rejected", "--event", "Sold"], in: folder)
        // Each watches once it shows something.
        func send(_ quantity: Int) async throws {
            _ = try await server.post(#"{"name":"Sold","userId":"ada","payload":{"quantity":\#(quantity)}}"#)
        }
        while all.output?.lines.isEmpty ?? false || rejected.output?.lines.isEmpty ?? false {
            try await send(1)
            try Task.checkCancellation()
        }
        try await send(5)
        let accepted = try #require(await all.output?.line(containing: #""quantity":5"#))
        #expect(accepted.hasPrefix(#"{"verdict":"accepted","trackers":["console"],"event":{"id":""#), "\(accepted)")
        let lines = rejected.output?.lines ?? []
        let start = #"{"verdict":"rejected","sender":"(no key)","name":"Sold","errors":[{"#
        #expect(lines.allSatisfy { $0.hasPrefix(start) })
        try await stop(server)
        #expect(try await all.waitForEnd() == .exit(1))
        #expect(all.errors.lines.last == "error: The process has ended.")
        #expect(try await rejected.waitForEnd() == .exit(1))
        let wrong = try await Sluice.run("tail", "--rejected", "--user", "ada", in: folder)
        #expect(wrong.ending == .exit(64))
    }

    @Test("top shows the trackers in a terminal, and events that arrive while it runs")
    func top() async throws {
        let folder = try TestFolder()
        let database = try await prepare(folder)
        let server = try await serve(folder, database)
        let name = "sluice-\(UUID().uuidString)"
        let program = try SluiceProcess.executable().path
        let tmux = ["-L", name]
        // Foundation takes a process as ended once a descriptor is closed that the server of tmux would inherit.
        let closing = #"for file in /proc/$$/fd/*; do n=${file##*/}; ((n < 3)) || eval "exec $n>&-"; done"#
        let session = "tmux -L \(name) new-session -d -x 120 -y 30 -c '\(folder.url.path)' '\(program) top'"
        _ = try await Command.run("bash", ["-c", "\(closing); \(session) </dev/null >/dev/null 2>&1"])
        /// Looks at the terminal until it shows a text.
        func wait(for text: String) async throws {
            while try await !Command.run("tmux", tmux + ["capture-pane", "-p"]).text.contains(text) {
                try await waitBriefly()
            }
        }
        try await wait(for: "TRACKER")
        try await wait(for: "0 events accepted")
        for _ in 0..<3 { #expect(try await server.post(Self.sold).status == 200) }
        try await wait(for: "3 events accepted")
        #expect(try await Sluice.run("pause", "postgres", in: folder).ending == .exit(0))
        try await wait(for: "paused")
        _ = try await Command.run("tmux", tmux + ["kill-server"])
        try await stop(server)
    }
}
