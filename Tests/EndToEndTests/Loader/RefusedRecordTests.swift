import EventQuarantine
import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

/// `sluice quarantine` and `sluice replay quarantine` on the records that a loader refused.
@Suite("sluice: refused records of a loader", .timeLimit(.minutes(5)))
struct RefusedRecordTests {
    private static let refusedPrice = 66.6
    /// The values that cannot be loaded, by their offsets, each with the verdict's code.
    private static let poison: [(value: [UInt8]?, code: String)] = [
        (LoadScene.purchase(partition: 0, quantity: 0).value, "out-of-range"),
        (LoadScene.purchase(partition: 0, price: refusedPrice).value, "refused"),
        (Array("{\"name\":  \"Unheard Of\",\"payload\":{\"é\":[1e2]}} ".utf8), "unknown-event"),
        (Array("{\n".utf8), "malformed-json"),
        ([0x7B, 0x22, 0xFF], "malformed-json"),
        (nil, "malformed-json"),
    ]

    /// The path of the plan with another minimum of a purchase's quantity.
    private static func fixedPlan(in folder: TestFolder) throws -> String {
        let text = try RepositoryFile.text("events/retail.plist")
        let minimum = "<key>minimum</key>\n\t\t\t\t<integer>1</integer>"
        try #require(text.contains(minimum))
        return try folder.write(
            text.replacingOccurrences(of: minimum, with: minimum.replacingOccurrences(of: ">1<", with: ">0<")),
            to: "fixed/retail.plist"
        )
    }

    /// A topic of one partition with the poison and one purchase, which a loader has loaded.
    private func scene(groups: [String] = ["loader"]) async throws -> LoadScene {
        let scene = try await LoadScene(SharedTopic(partitions: 1))
        try await scene.database.run("ALTER TABLE \(LoadScene.table) ADD CHECK (unit_price <> \(Self.refusedPrice))")
        let records = Self.poison.map { value, _ in
            var draft = LoadScene.purchase(partition: 0)
            draft.value = value
            return draft
        }
        try await scene.topic.writer().write(records + [LoadScene.purchase(partition: 0)])
        for group in groups {
            let loader = try scene.load(group: group)
            let position = "SELECT next_offset FROM analytics._sluice_loader_offsets WHERE loader = '\(group)'"
            try await scene.wait(for: position, toBe: ["\(Self.poison.count + 1)"], loader: loader)
            try await scene.stop(loader)
        }
        return scene
    }

    private func quarantine(_ arguments: String..., in scene: LoadScene) async throws -> Finished {
        let from = ["--from", "postgres", "--postgres", scene.database.url]
        return try await Sluice.run(["quarantine"] + arguments + from, in: scene.folder)
    }

    /// Replays on another machine, which needs no quarantine of its own.
    private func replay(_ arguments: String..., plan: String, in scene: LoadScene) async throws -> Finished {
        let from = ["quarantine", "--from", "postgres", "--postgres", scene.database.url]
        let folder = try TestFolder()
        let run = try await Sluice.replay(from + arguments, in: folder, plan: plan)
        #expect(!FileManager.default.fileExists(atPath: folder.path("quarantine")))
        return run
    }

    private func rows(_ run: Finished) -> [[String]] {
        run.output.map { $0.split(separator: "  ").map { $0.trimmingCharacters(in: .whitespaces) } }
    }

    @Test("refused records are listed, shown and counted, and exported byte for byte")
    func shown() async throws {
        let scene = try await scene()
        var list = rows(try await quarantine("list", in: scene)).dropFirst().sorted { $0[0] < $1[0] }
        // The time of the record.
        for index in list.indices { list[index].remove(at: 1) }
        let expected: [[String]] = [
            ["shared/0-0", "Item Purchased", "out-of-range", "tracker:postgres", "kept"],
            ["shared/0-1", "Item Purchased", "refused", "tracker:postgres", "kept"],
            ["shared/0-2", "Unheard Of", "unknown-event", "tracker:postgres", "kept"],
            ["shared/0-3", "-", "malformed-json", "tracker:postgres", "kept"],
            ["shared/0-4", "-", "malformed-json", "tracker:postgres", "kept"],
            ["shared/0-5", "-", "malformed-json", "tracker:postgres", "kept"],
        ]
        #expect(list == expected)
        let shown = try await quarantine("show", "shared/0-2", in: scene)
        #expect(shown.output.contains { $0.contains(#""code" : "unknown-event""#) })
        #expect(shown.output.last == #"{"name":  "Unheard Of","payload":{"é":[1e2]}} "#)
        let original = try await quarantine("show", "shared/0-2", "--original", in: scene)
        #expect(original.output == [#"{"name":  "Unheard Of","payload":{"é":[1e2]}} "#])
        #expect(try await quarantine("show", "shared/0-6", in: scene).ending == .exit(1))
        let stats = rows(try await quarantine("stats", in: scene))
        #expect(stats.contains(["all", "6"]) && stats.contains(["code malformed-json", "3"]))
        let exported = try await quarantine("export", in: scene).output
        #expect(exported.map { Quarantine.original(ofLine: Array($0.utf8)) } == Self.poison.map { $0.value ?? [] })
    }

    @Test(
        "quarantine list and replay quarantine have the same filters by code, event, time and loader",
        arguments: [
            (["--code", "malformed-json"], 3), (["--event", "Item Purchased"], 2),
            (["--since", "2100-01-01T00:00:00Z"], 0), (["--until", "2100-01-01T00:00:00Z", "--code", "refused"], 1),
            (["--loader", "other"], 0), (["--loader", "loader"], 6),
        ]
    )
    func filters(options: [String], count: Int) async throws {
        let scene = try await scene()
        let from = ["--from", "postgres", "--postgres", scene.database.url]
        let list = try await Sluice.run(["quarantine", "list"] + from + options, in: scene.folder)
        #expect(list.output.count == 1 + count)
        let replay = ["quarantine", "--dry-run"] + from + options
        #expect(try await Sluice.replay(replay, in: scene.folder, plan: LoadScene.plan).report().read == count)
    }

    @Test("after the plan is fixed, a replay loads an event once and removes its record; a dry run changes nothing")
    func replayed() async throws {
        let scene = try await scene()
        let plan = try Self.fixedPlan(in: scene.folder)
        let before = try await scene.refused()
        let dry = try await replay("--dry-run", plan: plan, in: scene)
        #expect(dry.ending == .exit(2))
        #expect(try dry.report().accepted == 2)
        #expect(try dry.report().rejected == 4)
        #expect(try await scene.refused() == before)
        #expect(try await scene.stored().count == 1)

        // The server refuses the event with the price again.
        let first = try await replay(plan: plan, in: scene)
        #expect(first.ending == .exit(1))
        let report = try first.report()
        #expect(report.delivered == ["postgres": 1])
        #expect(report.refused == ["postgres": 1])
        #expect(report.failures == [])
        #expect(try await scene.refused() == ["0/1", "0/2", "0/3", "0/4", "0/5"])
        #expect(try await scene.stored("quantity") == ["0", "6"])

        let constraint = "ALTER TABLE \(LoadScene.table) DROP CONSTRAINT item_purchased_unit_price_check"
        try await scene.database.run(constraint)
        let second = try await replay(plan: plan, in: scene)
        #expect(second.ending == .exit(2))
        #expect(try second.report().delivered == ["postgres": 1])
        #expect(try await scene.refused() == ["0/2", "0/3", "0/4", "0/5"])
        #expect(try await scene.stored().count == 3)
        #expect(scene.folder.quarantined() == [])
    }

    @Test("a record that could not be removed after its delivery is sent again, with the same id")
    func notRemoved() async throws {
        let scene = try await scene()
        let plan = try Self.fixedPlan(in: scene.folder)
        // An event without an id gets the same one each time.
        try await scene.database.run(
            """
            UPDATE analytics._sluice_refused SET value =
                convert_to(regexp_replace(convert_from(value, 'UTF8'), '"id":"[^"]*",', ''), 'UTF8') WHERE record_offset = 0;
            CREATE FUNCTION public.deny() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'denied'; END$$;
            CREATE TRIGGER deny BEFORE DELETE ON analytics._sluice_refused EXECUTE FUNCTION public.deny()
            """
        )
        let first = try await replay("--code", "out-of-range", plan: plan, in: scene)
        #expect(first.ending == .exit(1))
        #expect(try first.report().delivered == ["postgres": 1])
        #expect(try first.report().failures.first?.contains("so the next replay sends them again") == true)
        #expect(try await scene.refused().count == 6)
        let ids = try await scene.stored()
        #expect(ids.count == 2)
        try await scene.database.run("DROP TRIGGER deny ON analytics._sluice_refused")
        #expect(try await replay("--code", "out-of-range", plan: plan, in: scene).ending == .exit(0))
        #expect(try await scene.refused().count == 5)
        #expect(try await scene.stored() == ids)
    }

    @Test("the ids name the loader if there are several, and a replay of one loader's records leaves the others")
    func loaders() async throws {
        let scene = try await scene(groups: ["loader", "rebuild"])
        let all = Set(rows(try await quarantine("list", in: scene)).dropFirst().map { $0[0] })
        #expect(all == Set((0..<6).flatMap { ["loader/shared/0-\($0)", "rebuild/shared/0-\($0)"] }))
        let shown = try await quarantine("show", "rebuild/shared/0-3", in: scene)
        #expect(shown.ending == .exit(0))
        let own = Set(rows(try await quarantine("list", "--loader", "rebuild", in: scene)).dropFirst().map { $0[0] })
        #expect(own == Set((0..<6).map { "shared/0-\($0)" }))
        let plan = try Self.fixedPlan(in: scene.folder)
        _ = try await replay("--loader", "rebuild", "--code", "out-of-range", plan: plan, in: scene)
        let left = "SELECT loader FROM analytics._sluice_refused WHERE record_offset = 0"
        #expect(try await scene.database.run(left) == ["loader"])
    }

    /// A database with 1200 refused records that can be loaded, three of them larger than a page.
    private func largeScene() async throws -> LoadScene {
        let scene = try await LoadScene(SharedTopic(partitions: 1))
        let id = "00000000-0000-0000-0000-000000000000"
        let value = String(decoding: LoadScene.purchase(id: id, partition: 0).value ?? [], as: UTF8.self)
        let verdict =
            #"{"at":"2026-01-01T00:00:00Z","source":"tracker:postgres","stage":"delivery","errors":[{"code":"parked"}]}"#
        try await scene.database.run(
            """
            INSERT INTO analytics._sluice_refused SELECT 'loader', 'postgres', 'cluster', 'shared', n % 3, n, NULL,
                convert_to(replace('\(value)', '\(id)', gen_random_uuid()::text)
                    || CASE WHEN n % 400 = 0 THEN repeat(' ', 9 << 20) ELSE '' END, 'UTF8'), '[]', '\(verdict)', now()
            FROM generate_series(1, 1200) n
            """
        )
        return scene
    }

    @Test("a replay that is interrupted has removed the records of the events that it delivered, and no others")
    func interrupted() async throws {
        let scene = try await largeScene()
        let replay = try SluiceProcess(
            [
                "replay", "quarantine", "--from", "postgres", "--postgres", scene.database.url, "--events",
                LoadScene.plan, "--rate", "100",
            ],
            in: scene.folder
        )
        try await scene.wait(for: "SELECT count(*) > 20 FROM \(LoadScene.table)", toBe: ["t"], loader: replay)
        replay.send(SIGINT)
        #expect(try await replay.waitForEnd() == .exit(1))
        #expect(!replay.errors.text.contains("sends them again"), "\(replay.errors.text)")
        let stored = try await scene.stored().count
        #expect(stored < 1200)
        #expect(try await scene.refused().count == 1200 - stored)
    }

    @Test(
        "an event that states no time has the time of its record, whenever it is replayed",
        .promise("quarantine-replay")
    )
    func arrival() async throws {
        let scene = try await LoadScene(SharedTopic(partitions: 1))
        let sent = String(decoding: LoadScene.purchase(partition: 0).value ?? [], as: UTF8.self)
        let value = sent.replacing(#""time":"2010-12-01T08:26:00Z","receivedAt":"2010-12-01T08:26:01Z","#, with: "")
        let verdict =
            #"{"at":"2025-03-01T12:06:01Z","source":"tracker:postgres","stage":"delivery","errors":[{"code":"parked"}]}"#
        try await scene.database.run(
            """
            INSERT INTO analytics._sluice_refused VALUES ('loader', 'postgres', 'cluster', 'shared', 0, 0, NULL,
                convert_to('\(value)', 'UTF8'), '[]', '\(verdict)', now())
            """
        )
        #expect(try await replay(plan: LoadScene.plan, in: scene).ending == .exit(0))
        let time = "extract(epoch from occurred_at)::bigint || ' ' || extract(epoch from received_at)::bigint"
        #expect(try await scene.stored(time) == ["1740830761 1740830761"])
    }

    @Test("more records than a page, and large ones, are all listed, loaded and removed")
    func pages() async throws {
        let scene = try await largeScene()
        let stats = rows(try await quarantine("stats", in: scene))
        #expect(stats.contains(["code parked", "1200"]))
        let run = try await replay(plan: LoadScene.plan, in: scene)
        #expect(run.ending == .exit(0), "\(run.errors)")
        #expect(try run.report().delivered == ["postgres": 1200])
        #expect(try await scene.refused() == [])
        #expect(try await scene.stored().count == 1200)
    }

    @Test(
        "a limit of refused records stops the partition; after a replay it is loaded again",
        .promise("refused-record")
    )
    func limit() async throws {
        let scene = try await LoadScene(SharedTopic(partitions: 1))
        // Written at once, so that a batch has more refused records than the limit.
        try await scene.topic.writer().write([0, 0, 0, 6].map { LoadScene.purchase(partition: 0, quantity: $0) })
        let plan = try Self.fixedPlan(in: scene.folder)
        let loader = try scene.load(environment: ["SLUICE_POSTGRES_REFUSED_MAXIMUM_RECORDS_PER_PARTITION": "2"])
        _ = try await loader.errors.line(containing: "the limit of 2 refused records for a partition is reached")
        #expect(try await scene.refused() == ["0/0", "0/1"])
        _ = try await replay(plan: plan, in: scene)
        try await scene.wait(for: LoadCommandTests.position, toBe: ["4"], loader: loader)
        try await scene.stop(loader)
        _ = try await replay(plan: plan, in: scene)
        #expect(try await scene.stored("quantity") == ["0", "0", "0", "6"])
    }

    @Test(
        "wrong usage of refused records is reported in a sentence",
        arguments: [
            (["quarantine", "list", "--from", "warehouse"], "No tracker 'warehouse' that keeps refused"),
            (["quarantine", "list", "--loader", "x"], "--loader selects refused records, so it needs --from."),
            (["quarantine", "list", "--quarantine", "x", "--from", "postgres"], "use one of the two"),
            (["quarantine", "list", "--postgres", "x"], "use them with --from postgres"),
            (["replay", "quarantine", "x.ndjson", "--from", "postgres"], "the only path with it is quarantine"),
            (["replay", "quarantine", "--from", "postgres", "--to", "console"], "--to, --relay and --quarantine"),
        ]
    )
    func usage(arguments: [String], message: String) async throws {
        let run = try await Sluice.run(arguments, in: try TestFolder())
        #expect(run.ending == .exit(64))
        #expect(run.errors.first?.contains(message) == true, "\(run.errors)")
    }

    @Test("a database that cannot be reached, or that has no table of refused records, is an error")
    func noDatabase() async throws {
        let folder = try TestFolder()
        let empty = try await PrivatePostgres.shared().makeDatabase()
        for url in ["postgres://127.0.0.1:1/x", empty.url] {
            let replay = ["replay", "quarantine", "--dry-run", "--events", LoadScene.plan]
            for command in [["quarantine", "stats"], replay] {
                let run = try await Sluice.run(command + ["--from", "postgres", "--postgres", url], in: folder)
                #expect(run.ending == .exit(1), "\(command) \(url): \(run.output) \(run.errors)")
            }
        }
    }
}
