import Foundation
import ServerTestSupport
import TestPromises
import TestSupport
import Testing

@Suite("The plan of a running serve is replaced", .timeLimit(.minutes(5)))
struct PlanReloadTests {
    private static let noted =
        "<key>note2</key><dict><key>type</key><string>string</string><key>required</key><false/></dict>"

    private static func plan(minimumQuantity minimum: Int, tracker: String = "console", isNoted: Bool = false) -> String
    {
        Plans.shop(minimumQuantity: minimum, additionally: isNoted ? noted : "").replacing("console", with: tracker)
    }

    private static func sold(_ quantity: Int) -> String { #"{"name":"Sold","payload":{"quantity":\#(quantity)}}"# }

    private func stop(_ server: ServingSluice) async throws {
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    @Test(
        "by a change of its files, by SIGHUP and by the command; a plan with problems changes nothing and is shown",
        .promise("invalid-plan")
    )
    func causes() async throws {
        let folder = try TestFolder()
        try folder.write(Self.plan(minimumQuantity: 1), to: "plan/shop.plist")
        let server = try await ServingSluice.start(in: folder, plan: "plan")
        #expect(try await server.post(Self.sold(1)).status == 200)

        try folder.write(Self.plan(minimumQuantity: 5), to: "plan/shop.plist")
        let line = try await server.process.errors.line(containing: "The tracking plan was replaced.")
        #expect(line.contains("a change of the files") && line.contains("breaking"))
        #expect(try await server.post(Self.sold(1)).status == 422)
        #expect(try await server.post(Self.sold(5)).status == 200)

        try folder.write(Plans.broken, to: "plan/shop.plist")
        let refused = try await Sluice.run("reload", in: folder)
        #expect(refused.ending == .exit(1))
        #expect(
            refused.errors.contains { $0.hasPrefix("plan/shop.plist:") && $0.contains("error:") },
            "\(refused.errors)"
        )
        let status = try await Sluice.run("status", in: folder)
        #expect(status.output.contains { $0.hasPrefix("the plan's files are not in use: plan/shop.plist:") })
        #expect(try await server.post(Self.sold(5)).status == 200)

        try folder.write(Self.plan(minimumQuantity: 1), to: "plan/shop.plist")
        server.process.send(SIGHUP)
        _ = try await server.process.errors.line(containing: "SIGHUP")
        #expect(try await server.post(Self.sold(1)).status == 200)
        let unchanged = try await Sluice.run("reload", in: folder)
        #expect(unchanged.ending == .exit(0))
        #expect(unchanged.errors.last == "The plan is the same as the one in use.")
        #expect(try await Sluice.run("status", in: folder).output.allSatisfy { !$0.contains("not in use") })
        try await stop(server)
        #expect(server.process.output?.lines.count == 4)
    }

    @Test("files that are away for a time and come back unchanged leave nothing behind")
    func away() async throws {
        let folder = try TestFolder()
        let plan = Self.plan(minimumQuantity: 1)
        try folder.write(plan, to: "plan/shop.plist")
        let server = try await ServingSluice.start(in: folder, plan: "plan")
        try FileManager.default.removeItem(atPath: folder.path("plan/shop.plist"))
        _ = try await server.process.errors.line(containing: "The tracking plan was not replaced")
        try folder.write(plan, to: "plan/shop.plist")
        _ = try await server.process.errors.line(containing: "The tracking plan was read again and is unchanged.")
        #expect(try await Sluice.run("status", in: folder).output.allSatisfy { !$0.contains("not in use") })
        try await stop(server)
    }

    @Test("errors are shown before warnings, the warnings of a plan in use are printed, and an empty plan is refused")
    func diagnostics() async throws {
        let folder = try TestFolder()
        try folder.write(Self.plan(minimumQuantity: 1), to: "plan/shop.plist")
        let server = try await ServingSluice.start(in: folder, plan: "plan")
        let group = """
            <key>propertyGroups</key><dict><key>unused</key><dict><key>a</key><dict><key>type</key><string>string</string>\
            </dict></dict></dict><key>events</key>
            """
        let warned = Self.plan(minimumQuantity: 2).replacing("<key>events</key>", with: group)
        try folder.write(warned, to: "plan/shop.plist")
        let replaced = try await Sluice.run("reload", in: folder)
        #expect(replaced.ending == .exit(0))
        #expect(replaced.output.contains { $0.contains("warning:") && $0.contains("unused") }, "\(replaced.output)")

        try folder.write(Plans.broken, to: "plan/tail.plist")
        #expect(try await Sluice.run("reload", in: folder).ending == .exit(1))
        let status = try await Sluice.run("status", in: folder)
        #expect(status.output.contains { $0.hasPrefix("the plan's files are not in use: ") && $0.contains("error:") })

        try FileManager.default.removeItem(atPath: folder.path("plan/tail.plist"))
        let empty = "<plist version=\"1.0\"><dict><key>events</key><dict/></dict></plist>"
        try folder.write(empty, to: "plan/shop.plist")
        let refused = try await Sluice.run("reload", in: folder)
        #expect(refused.ending == .exit(1))
        #expect(refused.errors.contains("The new plan has no events."), "\(refused.errors)")
        #expect(try await server.post(Self.sold(2)).status == 200)
        try await stop(server)
    }

    @Test(
        "a table that lacks a column holds up the others only briefly, parks its own events, and says what to run",
        .promise("broken-table")
    )
    func parking() async throws {
        let folder = try TestFolder()
        let returns = Self.plan(minimumQuantity: 1, tracker: "postgres").replacing("Sold", with: "Returned")
        try folder.write(returns, to: "plan/returns.plist")
        try folder.write(Self.plan(minimumQuantity: 1, tracker: "postgres"), to: "plan/shop.plist")
        let database = try await PrivatePostgres.shared().makeDatabase()
        let migrate = ["migrate", "--events", "plan", "--postgres", database.url]
        #expect(try await Sluice.run(migrate, in: folder).ending == .exit(0))
        let arguments = ["--no-console", "--postgres", database.url]
        let server = try await ServingSluice.start(
            arguments,
            in: folder,
            plan: "plan",
            environment: ["SLUICE_DELIVERY_PARK_AFTER_SECONDS": "1"]
        )
        _ = try await server.process.errors.line(containing: "The tracker has started.")
        try folder.write(Self.plan(minimumQuantity: 1, tracker: "postgres", isNoted: true), to: "plan/shop.plist")
        #expect(try await Sluice.run("reload", in: folder).ending == .exit(0))
        #expect(try await server.post(Self.sold(2)).status == 200)
        _ = try await server.process.errors.line(containing: "sluice migrate")
        // The first may have been in the same delivery; the second passes only if nothing holds it up.
        for quantity in 3...4 {
            #expect(try await server.post(Self.sold(quantity).replacing("Sold", with: "Returned")).status == 200)
            let returned = "select max(quantity) from analytics.returned"
            while try await database.run(returned) != ["\(quantity)"] { try await waitBriefly() }
        }
        _ = try await server.process.errors.line(containing: "parked")
        #expect(try await Sluice.run(migrate, in: folder).ending == .exit(0))
        let replay = ["replay", "quarantine", "--code", "parked", "--events", "plan"] + arguments
        #expect(try await Sluice.run(replay, in: folder).ending == .exit(0))
        #expect(try await database.run("select quantity from analytics.sold") == ["2"])
        try await stop(server)
    }

    @Test("without events of other tables, the events of a table that lacks a column wait for the migration")
    func migration() async throws {
        let folder = try TestFolder()
        try folder.write(Self.plan(minimumQuantity: 1, tracker: "postgres"), to: "plan/shop.plist")
        let database = try await PrivatePostgres.shared().makeDatabase()
        let migrate = ["migrate", "--events", "plan", "--postgres", database.url]
        #expect(try await Sluice.run(migrate, in: folder).ending == .exit(0))
        let arguments = ["--no-console", "--postgres", database.url]
        let server = try await ServingSluice.start(arguments, in: folder, plan: "plan")
        #expect(try await server.post(Self.sold(1)).status == 200)
        #expect(try await Sluice.run("drain", in: folder).ending == .exit(0))
        #expect(try await Sluice.run("drain", "--undo", in: folder).ending == .exit(0))
        try folder.write(Self.plan(minimumQuantity: 1, tracker: "postgres", isNoted: true), to: "plan/shop.plist")
        #expect(try await Sluice.run("reload", in: folder).ending == .exit(0))
        let noted = #"{"name":"Sold","payload":{"quantity":2,"note2":"x"}}"#
        #expect(try await server.post(noted).status == 200)
        _ = try await server.process.errors.line(containing: "sluice migrate")
        #expect(try await Sluice.run(migrate, in: folder).ending == .exit(0))
        // The tracker is blocked until it looks again, and a drain would not wait for that.
        while try await database.run("select count(*) from analytics.sold") == ["1"] { try await waitBriefly() }
        #expect(try await database.run("select quantity, note2 from analytics.sold order by 1") == ["1|", "2|x"])
        try await stop(server)
    }

    @Test("under load, every accepted event reaches PostgreSQL once", .promise("plan-replacement"))
    func load() async throws {
        let folder = try TestFolder()
        try folder.write(Self.plan(minimumQuantity: 1, tracker: "postgres", isNoted: true), to: "plan/shop.plist")
        let database = try await PrivatePostgres.shared().makeDatabase()
        let migrate = ["migrate", "--events", "plan", "--postgres", database.url]
        #expect(try await Sluice.run(migrate, in: folder).ending == .exit(0))
        let arguments = ["--no-console", "--postgres", database.url]
        let server = try await ServingSluice.start(arguments, in: folder, plan: "plan")
        try folder.write(
            "wrk.method = 'POST'\nwrk.headers['Content-Type'] = 'application/json'\nwrk.body = [[\(Self.sold(3))]]\n",
            to: "post.lua"
        )
        let load = try SluiceProcess(
            ["wrk", "-t", "1", "-c", "16", "-d", "4s", "-s", folder.path("post.lua"), "\(server.url)/v1/events"],
            executable: URL(filePath: "/usr/bin/env"),
            in: folder
        )
        for minimum in [2, 1, 3, 2, 1, 3] {
            let plan = Self.plan(minimumQuantity: minimum, tracker: "postgres", isNoted: true)
            try folder.write(plan, to: "plan/shop.plist")
            let reload = try await Sluice.run("reload", in: folder)
            #expect(reload.ending == .exit(0), "\(reload.errors)")
        }
        #expect(try await load.waitForEnd() == .exit(0))
        #expect(load.output?.text.contains("Non-2xx") == false, "\(load.output?.text ?? "")")
        #expect(try await Sluice.run("drain", in: folder).ending == .exit(0))
        let status = try await Sluice.run("status", in: folder)
        let accepted = try #require(status.output.joined().firstMatch(of: #/(\d+) events accepted/#)?.output.1)
        #expect(Int(accepted) ?? 0 > 100)
        #expect(
            try await database.run("select count(*), count(distinct id) from analytics.sold") == [
                "\(accepted)|\(accepted)"
            ]
        )
        #expect(folder.quarantined().isEmpty)
        try await stop(server)
        // By the command or, if it was faster, by the watch of the files.
        let replaced = server.process.errors.lines.count { $0.contains("The tracking plan was replaced.") }
        #expect(replaced == 6)
    }
}
