import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// A `sluice serve` with a tracker of every type, the destinations of these, and events of the example data.
final class TrackerScene {
    struct Event {
        let id: String
        let line: String
    }

    /// The trackers with the types `console`, `postgres`, `kafka`, `exec` (lines, target-jsonl and target-postgres), `file`,
    /// `webhook`, `sluice` and `socket`.
    static let trackers = [
        "console", "postgres", "kafka", "crm", "lake", "warehouse", "archive", "partner", "centre", "logs",
    ]

    let folder: TestFolder
    let postgres: PrivatePostgres
    /// The database of the tracker `postgres`.
    let database: TestDatabase
    /// The database of the tracker `warehouse`, whose tables target-postgres makes.
    let warehouse: TestDatabase
    let cluster: MockKafkaCluster
    let receiver: WebhookReceiver
    let centre: CentralSluice
    let rsyslog: PrivateRsyslog
    /// Events of one day; the tracker `crm` refuses its returns, and four others one purchase each.
    let events: [Event]
    /// The ids of the events that a tracker refuses.
    let refused: [String: Set<String>]
    /// The ids of the events that were acknowledged.
    private(set) var acknowledged = Set<String>()
    /// Every server that was started.
    private(set) var servers: [ServingSluice] = []
    /// The sessions that lock tables while destinations hang.
    var locks: [TestSession] = []
    /// What was in the folder before the first start.
    private(set) var inputs = Set<String>()

    /// Starts the destinations.
    init() async throws {
        folder = try TestFolder()
        postgres = try await PrivatePostgres()
        database = try await postgres.makeDatabase()
        warehouse = try await postgres.makeDatabase()
        cluster = try MockKafkaCluster()
        try cluster.makeTopic("events", partitions: 4)
        receiver = try await WebhookReceiver()
        rsyslog = try await PrivateRsyslog()
        // Its rules are stricter, so it rejects an event that the plan allows.
        centre = try await CentralSluice(
            plan: Self.plan(["postgres"]).replacing(#/<key>quantity</key>\s*<dict>/#) {
                "\($0.output)<key>maximum</key><integer>100000</integer>"
            },
            postgres.makeDatabase()
        )
        let lines = try await RetailMonth.dayLines(275)
        let ids = lines.map { _ in UUID().uuidString.lowercased() }
        events = zip(ids, lines).enumerated().map { Self.event(number: $0, id: $1.0, $1.1) }
        refused = [
            "postgres": [ids[Self.refusedByPostgres]], "kafka": [ids[Self.refusedByKafka]],
            "partner": [ids[Self.refusedByPartner]], "centre": [ids[Self.refusedByCentre]],
            "crm": Set(zip(ids, lines).filter { $1.contains("Item Returned") }.map(\.0)),
        ]
        try writeFiles()
        let migration = try await Sluice.run("migrate", "--config", "sluice.yaml", in: folder)
        #expect(migration.ending == .exit(0), "\(migration.errors)")
        try await database.run(
            "ALTER TABLE analytics.item_purchased ADD CHECK (id <> '\(ids[Self.refusedByPostgres])')"
        )
        for table in ["item_purchased", "item_returned"] { try await database.noteInserts(into: "analytics.\(table)") }
        try takeRequests()
        inputs = try names()
    }

    /// Lets the webhook's receiver take requests, but not the event that it refuses.
    func takeRequests() throws { try receiver.setMode("refuse 422 \(events[Self.refusedByPartner].id)") }

    /// The names in the folder.
    func names() throws -> Set<String> { Set(try FileManager.default.contentsOfDirectory(atPath: folder.url.path)) }

    // MARK: Events

    private static let refusedByPostgres = 200
    private static let refusedByKafka = 201
    private static let refusedByPartner = 202
    private static let refusedByCentre = 203

    /// A line of the example data with an id; two of them with what their tracker refuses.
    private static func event(number: Int, id: String, _ line: String) -> Event {
        let line = #"{"id":"\#(id)","# + line.dropFirst()
        switch number {
        case refusedByKafka:
            let padding = String(repeating: "x", count: 6000)
            return Event(
                id: id,
                line: line.replacing(#""payload":"#, with: #""context":{"padding":"\#(padding)"},"payload":"#)
            )
        case refusedByCentre:
            return Event(id: id, line: line.replacing(/"quantity":\d+/, with: #""quantity":1000000"#))
        default: return Event(id: id, line: line)
        }
    }

    /// The plan of the example data, with other trackers.
    private static func plan(_ trackers: [String]) throws -> String {
        let names = trackers.map { "<string>\($0)</string>" }.joined()
        let text = try RepositoryFile.text("events/retail.plist")
        return text.replacing(#/<key>(trackers|registeredTrackers)</key>\s*<array>(?s:.*?)</array>/#) {
            "<key>\($0.output.1)</key><array>\(names)</array>"
        }
    }

    // MARK: Files

    static let secret = "whsec_" + Data("a secret of at least 24 bytes".utf8).base64EncodedString()

    private func writeFiles() throws {
        try folder.write(Self.plan(Self.trackers), to: "events/plan.plist")
        try folder.write(Self.secret + "\n", to: "signing-key")
        try folder.write(centre.writeKey + "\n", to: "centre-key")
        try FileManager.default.createDirectory(atPath: folder.path("disk"), withIntermediateDirectories: false)
        try folder.write(program, to: "crm.sh")
        try folder.write(try lake, to: "lake.sh")
        try folder.write(#"{"destination_path":"lake","do_timestamp_file":false}"#, to: "lake.json")
        let target = try SingerTarget.path("target-postgres")
        try folder.write("echo $$ >>processes; exec '\(target)' --config warehouse.json", to: "warehouse.sh")
        let url = warehouse.url.replacing("postgres://", with: "postgresql+psycopg://")
        try folder.write(
            #"{"sqlalchemy_url":"\#(url)","default_target_schema":"public","flattening_enabled":true,"flattening_max_depth":1}"#,
            to: "warehouse.json"
        )
        try folder.write(settings, to: "sluice.yaml")
    }

    /// Each program notes its process, and ends at once while there is a file `down`.
    private var program: String {
        """
        echo $$ >>processes
        if [ -e down ]; then exit 1; fi
        echo $$ >crm.process
        exec '\(RepositoryFile.url("Examples/exec/append.py").path)' crm
        """
    }

    /// A target that hangs while there is a file `hang`.
    private var lake: String {
        get throws {
            """
            echo $$ >>processes
            if [ -e down ]; then exit 1; fi
            if [ -e hang ]; then : >hanging; exec tail -f /dev/null; fi
            # A run that was killed may have left a part of a line, which target-jsonl does not look for.
            for file in lake/*; do [ -z "$(tail -c 1 "$file" 2>/dev/null)" ] || echo >>"$file"; done
            exec '\(try SingerTarget.path("target-jsonl"))' --config lake.json
            """
        }
    }

    /// The time limits are short where a destination hangs until they are over.
    private var settings: String {
        """
        postgres: { url: "\(database.url)" }
        kafka:
          brokers: "\(cluster.bootstrapServers)"
          properties: [message.max.bytes=4000, reconnect.backoff.max.ms=200]
          timeouts: { deliverySeconds: 3 }
        trackers:
          crm: { type: exec, command: [/bin/sh, crm.sh], timeouts: { deliverySeconds: 5, graceSeconds: 1 } }
          lake:
            type: exec
            protocol: singer
            command: [/bin/sh, lake.sh]
            timeouts: { deliverySeconds: 10, graceSeconds: 1 }
            delivery: { lingerMilliseconds: 200 }
          warehouse:
            type: exec
            protocol: singer
            command: [/bin/sh, warehouse.sh]
            delivery: { lingerMilliseconds: 200 }
          archive:
            type: file
            path: "disk/archive/{event}/{yyyy}-{MM}-{dd}/{HH}-{node}.ndjson.gz"
            node: edge
            maximumFileBytes: 2000
          partner:
            type: webhook
            url: "\(receiver.url)/"
            format: json
            signingKeyFile: signing-key
            compression: gzip
            timeouts: { requestSeconds: 5 }
          centre: { type: sluice, url: "\(centre.url)", writeKeyFile: centre-key, timeouts: { requestSeconds: 5 } }
          logs: { type: socket, url: "\(rsyslog.url)" }
        """
    }

    // MARK: The server

    /// Starts `sluice serve`.
    func serve() async throws -> ServingSluice {
        let server = try await ServingSluice.start("--config", "sluice.yaml", in: folder, plan: "events")
        servers.append(server)
        return server
    }

    /// Sends the events with these numbers, which have to be acknowledged, in several requests.
    func post(_ numbers: Range<Int>, to server: ServingSluice) async throws {
        for start in stride(from: numbers.lowerBound, to: numbers.upperBound, by: 5) {
            let sent = events[start..<min(start + 5, numbers.upperBound)]
            let body = sent.map(\.line).joined(separator: "\n")
            let answer = try await server.post(body, type: "application/x-ndjson")
            try #require(answer.status == 200, "\(answer.body)")
            acknowledged.formUnion(sent.map(\.id))
        }
    }

    /// What `sluice status` says of a tracker.
    private struct Status: Decodable {
        struct Tracker: Decodable {
            let name: String
            let lagEvents: Int
            let retried: Int
            let reason: String?
        }

        let trackers: [Tracker]
    }

    private func status() async throws -> [Status.Tracker] {
        let run = try await Sluice.run("status", "--json", in: folder)
        #expect(run.ending == .exit(0), "\(run.errors)")
        return try JSONDecoder().decode(Status.self, from: Data(run.output.joined().utf8)).trackers
    }

    /// Waits until every tracker has settled every event.
    func settle(by server: ServingSluice) async throws {
        while true {
            let waiting = try await status().filter { $0.lagEvents > 0 }
            if waiting.isEmpty { return }
            do { try await waitBriefly() } catch { throw stalled("\(waiting)", server) }
        }
    }

    /// Makes deliveries fail, sends events, and waits until those of all these trackers have failed.
    func fail(
        _ names: [String],
        of server: ServingSluice,
        sending numbers: Range<Int>,
        because action: () async throws -> Void
    ) async throws {
        let before = try await status()
        try await action()
        try await post(numbers, to: server)
        while true {
            let working = zip(before, try await status()).filter { $1.retried <= $0.retried }.map(\.0.name)
            let left = names.filter(working.contains)
            if left.isEmpty { return }
            do { try await waitBriefly() } catch { throw stalled("deliveries of \(left) that fail", server) }
        }
    }

    /// The error for a wait that the test's time limit has ended.
    private func stalled(_ what: String, _ server: ServingSluice) -> any Error {
        // The targets write a lot.
        let log = server.process.errors.lines.filter { !$0.contains("wrote a line to standard error") }
        let error = OutputLog.Missing(text: what, output: log.joined(separator: "\n"))
        // The testing library does not report an error that is thrown after the time limit.
        print(error)
        return error
    }
}
