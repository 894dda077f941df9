import Foundation

/// The same events by way of rsyslog, which many use for this: lines over TCP to a file or to PostgreSQL.
///
/// rsyslog validates nothing and sends no acknowledgement.
struct RsyslogRow: Row {
    fileprivate enum Destination: String {
        case file, postgres
    }

    let name: String
    let what: String
    fileprivate let destination: Destination
    /// How often rsyslog gets the file in a round.
    fileprivate let passes: Int

    #if os(Linux)
    static let all = [
        RsyslogRow(
            name: "rsyslog-file",
            what: "100 events a request over HTTP to an unsynced journal, 16 connections",
            destination: .file,
            passes: 10
        ),
        RsyslogRow(
            name: "rsyslog-postgres",
            what: "replay to PostgreSQL, with a column for each property",
            destination: .postgres,
            passes: 1
        ),
    ]
    #else
    // Its module imptcp exists on Linux only.
    static let all: [RsyslogRow] = []
    #endif

    private static let port = 8182
    private static let linesAPass = 100_000
    private static let connections = 4

    private var lines: Int { Self.linesAPass * passes }

    func measure(at site: Site) throws -> Measurement {
        let file = try Material(at: site).uniform(count: Self.linesAPass)
        let module = destination == .file ? "imptcp, omfile" : "imptcp, ompgsql"
        let rsyslog = Reference.ceiling("rsyslog: \(module)", target: 1) { try rsyslogRate(file, at: site) }
        if destination == .postgres { try EventTables.make(at: site) }
        var measurement = try Measurement(of: self, unit: "events/s", rounds: site.rounds, with: [rsyslog]) {
            destination == .file ? try journalRate(file, at: site) : try replayRate(file, at: site)
        }
        measurement.notes = [
            "rsyslog gets \(lines) lines over \(Self.connections) connections, and is measured until it has written the last"
        ]
        if destination == .postgres {
            measurement.notes.append(
                "rsyslog inserts each line as a text, into a table without an index; default batches"
            )
        }
        return measurement
    }

    // MARK: Sluice

    private func journalRate(_ file: String, at site: Site) throws -> Double {
        try HTTPServer.unsynced.serving(port: Self.port, at: site) { _ in
            func load(seconds: Int) throws -> Load {
                let content = Load.Content.events(file, aRequest: 100, type: "application/x-ndjson")
                return try Load.run(
                    Load.Shape(port: Self.port, connections: 16, content: content, seconds: seconds),
                    at: site
                )
            }
            _ = try load(seconds: 1)
            return try load(seconds: 4).requestsASecond * 100
        }
    }

    private func replayRate(_ file: String, at site: Site) throws -> Double {
        try EventTables.empty(EventTables.filled, at: site)
        return try Replay.run([file], to: "postgres", options: ["--postgres", site.postgres], at: site).eventsASecond
    }

    // MARK: rsyslog

    private func rsyslogRate(_ file: String, at site: Site) throws -> Double {
        let folder = site.scratch + "/rsyslog"
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        if destination == .postgres {
            try EventTables.sql(
                [
                    "set client_min_messages = warning", "drop schema if exists rsyslog cascade",
                    "create schema rsyslog",
                    "create table rsyslog.events (line text)",
                ],
                at: site
            )
        }
        try configuration(folder, at: site).write(toFile: "\(folder)/conf", atomically: true, encoding: .utf8)
        let server = try Child("rsyslogd", ["-n", "-f", "\(folder)/conf", "-i", "\(folder)/pid"])
        defer { _ = try? server.stop() }
        try server.waitUntilListening(at: Self.port)
        try Child.run("split", ["-n", "l/\(Self.connections)", file, "\(folder)/part-"])
        let files = Array(repeating: "$part", count: passes).joined(separator: " ")
        let send = "for part in \(folder)/part-*; do cat \(files) >/dev/tcp/127.0.0.1/\(Self.port) & done; wait"
        let begin = ContinuousClock.now
        try Child.run("bash", ["-c", send])
        while try written(folder, at: site) < lines {
            guard begin.duration(to: .now) < .seconds(120) else {
                throw BenchmarkError("rsyslog has not written all lines")
            }
            // Rarely, because counting the rows takes time from what is measured.
            Thread.sleep(forTimeInterval: destination == .file ? 0.005 : 0.2)
        }
        let elapsed = begin.duration(to: .now)
        return Double(lines) / (elapsed / .seconds(1))
    }

    /// The number of lines that have arrived.
    private func written(_ folder: String, at site: Site) throws -> Int {
        switch destination {
        case .file:
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(folder)/events")
            // Each line has 228 bytes, including its newline.
            return (attributes?[.size] as? Int ?? 0) / 228
        case .postgres:
            return Int(try EventTables.sql(["select count(*) from rsyslog.events"], at: site).filter(\.isNumber)) ?? 0
        }
    }

    private func configuration(_ folder: String, at site: Site) -> String {
        let action =
            switch destination {
            case .file:
                #"action(type="omfile" file="\#(folder)/events" template="line")"#
            case .postgres:
                #"action(type="ompgsql" conninfo="\#(site.postgres)" template="row")"#
            }
        return """
            global(workDirectory="\(folder)" processInternalMessages="off" internalmsg.severity="err"
                   parser.escapeControlCharactersOnReceive="off")
            # It would discard lines if the queue were full for long.
            main_queue(queue.type="LinkedList" queue.size="200000" queue.timeoutEnqueue="100000")
            module(load="imptcp")
            \(destination == .postgres ? #"module(load="\#(site.ompgsql)")"# : "")
            template(name="line" type="string" string="%rawmsg%\\n")
            template(name="row" type="string" option.stdsql="on"
                     string="insert into rsyslog.events (line) values ('%rawmsg%')")
            ruleset(name="events") { \(action) }
            input(type="imptcp" address="127.0.0.1" port="\(Self.port)" supportOctetCountedFraming="off" ruleset="events")

            """
    }
}
