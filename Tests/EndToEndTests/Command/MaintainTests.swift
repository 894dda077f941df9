import ServerTestSupport
import TestSupport
import Testing

@Suite("sluice maintain and migrate --partition", .timeLimit(.minutes(5)))
struct MaintainTests {
    private static let plan = Sluice.plan + "/retail.plist"

    private func sluice(_ database: TestDatabase, _ command: String..., in folder: TestFolder) async throws -> Finished
    {
        try await Sluice.run(command + ["--events", Self.plan, "--postgres", database.url], in: folder)
    }

    @Test(
        "an existing table is partitioned, maintained and rid of old months, and what an operator has to do ends with 1"
    )
    func commands() async throws {
        let folder = try TestFolder()
        let database = try await PrivatePostgres.shared().makeDatabase()
        #expect(try await sluice(database, "migrate", in: folder).ending == .exit(0))
        let nothing = try await sluice(database, "maintain", in: folder)
        #expect(nothing.ending == .exit(0))
        #expect(nothing.output == ["Nothing to do: the plan has no table that is partitioned by time."])

        let unknown = try await sluice(database, "migrate", "--partition", "other", in: folder)
        #expect(unknown.ending == .exit(1))
        #expect(unknown.errors.joined().contains("The plan has no table other."))
        try await database.run("CREATE PUBLICATION changes FOR TABLE analytics.item_purchased")
        let refused = try await sluice(database, "migrate", "--partition", "item_purchased", in: folder)
        #expect(refused.ending == .exit(1))
        #expect(refused.errors.joined().contains("--leave 'changes'"))
        let partitioned = try await sluice(
            database,
            "migrate",
            "--partition",
            "all",
            "--leave",
            "changes",
            in: folder
        )
        #expect(partitioned.ending == .exit(0))
        #expect(partitioned.output.contains { $0.hasPrefix("partitioned item_purchased;") })
        #expect(partitioned.output.contains { $0.hasPrefix("partitioned item_returned;") })

        // The first partition has the whole past.
        let maintained = try await sluice(
            database,
            "maintain",
            "--since",
            "2010-12",
            "--retention-months",
            "200",
            in: folder
        )
        #expect(maintained.ending == .exit(0))
        #expect(maintained.output == ["analyzed item_purchased", "analyzed item_returned"])

        try await database.run("CREATE TABLE rest PARTITION OF analytics.item_returned DEFAULT")
        for command in ["maintain", "check"] {
            let run = try await sluice(database, command, in: folder)
            #expect(run.ending == .exit(1))
            #expect((run.output + run.errors).joined().contains(#"DETACH PARTITION "public"."rest""#))
        }
    }

    @Test("a program for archives without a folder for them is an error of the settings")
    func archiveWithoutFolder() async throws {
        let run = try await Sluice.run("maintain", "--archive", "a", "b", "--postgres", "c", in: try TestFolder())
        #expect(run.ending == .exit(1))
        #expect(
            run.errors == [
                "error: --archive: it needs postgres.archive.folder, in which it writes [conflicting-settings]"
            ]
        )
    }
}
