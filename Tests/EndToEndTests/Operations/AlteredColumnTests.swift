import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

/// `serve` and a column whose type is not the plan's, because somebody altered it or the plan was changed.
@Suite("sluice serve and altered columns", .timeLimit(.minutes(5)))
struct AlteredColumnTests {
    private let folder: TestFolder
    private let database: TestDatabase
    private static let plan = Plans.shop(minimumQuantity: 1).replacing("console", with: "postgres")

    init() async throws {
        folder = try TestFolder()
        try folder.write(Self.plan, to: "plan/shop.plist")
        try folder.write(Self.plan.replacing("Sold", with: "Returned"), to: "plan/returns.plist")
        database = try await PrivatePostgres.shared().makeDatabase()
        let migrate = ["migrate", "--events", "plan", "--postgres", database.url]
        #expect(try await Sluice.run(migrate, in: folder).ending == .exit(0))
    }

    private func serve() async throws -> ServingSluice {
        let server = try await ServingSluice.start(
            ["--no-console", "--postgres", database.url],
            in: folder,
            plan: "plan",
            environment: ["SLUICE_DELIVERY_PARK_AFTER_SECONDS": "1"]
        )
        _ = try await server.process.errors.line(containing: "The tracker has started.")
        return server
    }

    private func stop(_ server: ServingSluice) async throws {
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    /// Sends an event of the altered table, and then one of the other, which is stored.
    private func post(_ sold: String, returned: Int, to server: ServingSluice) async throws {
        #expect(try await server.post(#"{"name":"Sold","payload":{"quantity":\#(sold)}}"#).status == 200)
        try await post(returned: returned, to: server)
    }

    private func post(returned: Int, to server: ServingSluice) async throws {
        #expect(try await server.post(#"{"name":"Returned","payload":{"quantity":\#(returned)}}"#).status == 200)
        let question = "SELECT max(quantity) FROM analytics.returned"
        while try await database.run(question) != ["\(returned)"] { try await waitBriefly() }
    }

    /// Waits until the events of the altered table are parked, which needs events of another table as evidence; returns the log line.
    private func parked(by server: ServingSluice, returned: ClosedRange<Int>) async throws -> String {
        for quantity in returned { try await post(returned: quantity, to: server) }
        return try await server.process.errors.line(containing: "they are parked in the quarantine")
    }

    private func sold() async throws -> [String] {
        try await database.run("SELECT quantity FROM analytics.sold ORDER BY received_at")
    }

    @Test(
        "no wrong value is stored, also after a restart; the events are parked with the column, and a repair delivers them",
        .promise("exact-columns")
    )
    func altered() async throws {
        let first = try await serve()
        try await post("3", returned: 1, to: first)
        while try await sold() != ["3"] { try await waitBriefly() }
        try await database.run("ALTER TABLE analytics.sold ALTER quantity TYPE numeric")
        try await post("4", returned: 2, to: first)
        let parked = try await parked(by: first, returned: 3...4)
        #expect(parked.contains(#""analytics"."sold"."quantity""#), "\(parked)")
        try await stop(first)

        let second = try await serve()
        try await post("5", returned: 5, to: second)
        _ = try await self.parked(by: second, returned: 6...7)
        #expect(try await sold() == ["3"])
        let check = try await Sluice.run(
            "check",
            "--events",
            "plan",
            "--postgres",
            database.url,
            "--timeout",
            "60",
            in: folder
        )
        #expect((check.output + check.errors).contains { $0.contains(#""analytics"."sold"."quantity""#) }, "\(check)")
        try await stop(second)

        try await database.run("ALTER TABLE analytics.sold ALTER quantity TYPE bigint")
        let replay = ["replay", "quarantine", "--code", "parked", "--events", "plan", "--postgres", database.url]
        #expect(try await Sluice.run(replay + ["--no-console"], in: folder).ending == .exit(0))
        #expect(try await sold() == ["3", "4", "5"])
    }

    @Test("a text is not stored in the column of a number after the plan has changed the property's type")
    func planChanged() async throws {
        let server = try await serve()
        try await post("3", returned: 1, to: server)
        let plan = Self.plan.replacing("<string>integer</string>", with: "<string>string</string>")
            .replacing("<key>minimum</key><integer>1</integer>", with: "")
        try folder.write(plan, to: "plan/shop.plist")
        #expect(try await Sluice.run("reload", in: folder).ending == .exit(0))
        try await post(#""abcdefgh""#, returned: 2, to: server)
        let parked = try await parked(by: server, returned: 3...4)
        #expect(parked.contains(#""analytics"."sold"."quantity""#), "\(parked)")
        #expect(try await sold() == ["3"])
        try await stop(server)
    }
}
