import Foundation
import ServerTestSupport
import TestSupport
import Testing

/// `sluice export`.
@Suite("sluice export", .timeLimit(.minutes(5)))
struct ExportTests {
    private static func arguments(_ format: String) -> [String] { ["export", format, "--events", Sluice.plan] }

    @Test(
        "export writes the same bytes to standard output and to a file, in every run",
        arguments: ["json-schema", "openapi", "sql", "markdown", "html"]
    )
    func outputs(format: String) async throws {
        let folder = try TestFolder()
        let printed = try await Sluice.run(Self.arguments(format), in: folder)
        #expect(printed.ending == .exit(0))
        #expect(printed.errors == [])
        #expect(printed.output.count > 100)
        for name in ["first", "second"] {
            let run = try await Sluice.run(Self.arguments(format) + ["--output", name], in: folder)
            #expect(run.ending == .exit(0))
            #expect(run.output == [])
        }
        let file = format == "json-schema" ? "/envelope.schema.json" : ""
        let first = try Data(contentsOf: folder.url.appending(path: "first" + file))
        #expect(try Data(contentsOf: folder.url.appending(path: "second" + file)) == first)
        #expect(String(decoding: first, as: UTF8.self) == printed.output.joined(separator: "\n") + "\n")
    }

    @Test("export json-schema writes a schema for each event and one for all, with the given base URI")
    func schemas() async throws {
        let folder = try TestFolder()
        try folder.write(Plans.shop(minimumQuantity: 1), to: "events/shop.plist")
        let arguments = ["export", "json-schema", "--output", "made/schemas", "--base-uri", "https://example.com/s"]
        #expect(try await Sluice.run(arguments, in: folder).ending == .exit(0))
        // The short option.
        let short = try await Sluice.run("export", "json-schema", "--output", "s", in: folder)
        #expect(short.ending == .exit(0))
        #expect(
            try Self.files(in: folder.path("made")) == [
                "schemas/envelope.schema.json", "schemas/events/sold.schema.json",
            ]
        )
        let event = folder.lines(of: "made/schemas/events/sold.schema.json")
        #expect(event.contains(#"  "$id": "https://example.com/s/events/sold.schema.json","#))

        // The schema of a removed event stays, and a warning names it.
        try folder.write("{}", to: "made/schemas/events/old.schema.json")
        let again = try await Sluice.run(arguments, in: folder)
        #expect(again.ending == .exit(0))
        #expect(again.errors == ["warning: 'made/schemas/events/old.schema.json' belongs to no event of the plan"])
    }

    @Test("psql can run the SQL; migrate then has nothing to do", arguments: ["analytics", #"we"ird's; schema"#])
    func sql(schema: String) async throws {
        let folder = try TestFolder()
        let options = ["--schema", schema]
        let run = try await Sluice.run(Self.arguments("sql") + options + ["-o", "plan.sql"], in: folder)
        #expect(run.ending == .exit(0))
        let database = try await PrivatePostgres.shared().makeDatabase()
        // From a file, because the script does not fit into the pipe to psql.
        try await database.run("\\i \(folder.path("plan.sql"))")
        let migration = try await Sluice.run(
            ["migrate", "--events", Sluice.plan, "--postgres", database.url] + options,
            in: folder
        )
        #expect(migration.errors == [])
        #expect(migration.output == ["Nothing to do: the database matches the plan."])
    }

    @Test(
        "an export whose output cannot be written is an error, and changes no existing file",
        arguments: [
            ("missing/plan.html", "'missing/plan.html' cannot be written: No such file or directory."),
            ("folder", "'folder' cannot be written: Is a directory."),
            ("file/plan.html", "'file/plan.html' cannot be written: Not a directory."),
            ("/dev/full", "'/dev/full' cannot be written: No space left on device."),
        ]
    )
    func unwritable(output: String, sentence: String) async throws {
        let folder = try TestFolder()
        try folder.write("here", to: "folder/inner")
        try folder.write("here", to: "file")
        let before = try Self.files(in: folder.url.path)
        let run = try await Sluice.run(Self.arguments("html") + ["--output", output], in: folder)
        #expect(run.ending == .exit(1))
        #expect(run.errors == ["error: " + sentence])
        #expect(try Self.files(in: folder.url.path) == before)
    }

    @Test("export json-schema writes either all schemas or none")
    func allOrNothing() async throws {
        let folder = try TestFolder()
        try folder.write("here", to: "made/events/item_returned.schema.json/inner")
        let run = try await Sluice.run(Self.arguments("json-schema") + ["--output", "made"], in: folder)
        #expect(run.ending == .exit(1))
        #expect(run.errors == ["error: 'made/events/item_returned.schema.json' cannot be written: Is a directory."])
        #expect(try Self.files(in: folder.path("made")) == ["events/item_returned.schema.json/inner"])
        let inFile = try await Sluice.run(
            Self.arguments("json-schema") + ["--output", "/dev/null/schemas"],
            in: folder
        )
        #expect(inFile.errors == ["error: '/dev/null' is not a folder."])
    }

    @Test(
        "export json-schema writes nothing if one of its files is a link, a device or a pipe",
        arguments: ["link", "device", "pipe"]
    )
    func irregularFile(kind: String) async throws {
        let folder = try TestFolder()
        try folder.write("outside", to: "outside.json")
        try FileManager.default.createDirectory(atPath: folder.path("made/events"), withIntermediateDirectories: true)
        let path = folder.path("made/events/item_returned.schema.json")
        switch kind {
        case "link": try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "../../outside.json")
        case "device": try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/null")
        default: #expect(mkfifo(path, 0o600) == 0)
        }
        let run = try await Sluice.run(Self.arguments("json-schema") + ["--output", "made"], in: folder)
        #expect(run.ending == .exit(1))
        #expect(
            run.errors == ["error: 'made/events/item_returned.schema.json' cannot be written: Not a regular file."]
        )
        #expect(folder.lines(of: "outside.json") == ["outside"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path("made/events")) == [
                "item_returned.schema.json"
            ]
        )
    }

    @Test("a draft that a killed run left blocks no later run, even one with the same process id")
    func leftoverDraft() async throws {
        let folder = try TestFolder()
        let script = #"touch "plan.md.$$.draft"; exec "$0" export markdown --events "$1" --output plan.md"#
        let process = try SluiceProcess(
            ["-c", script, SluiceProcess.executable().path, Sluice.plan],
            executable: URL(fileURLWithPath: "/bin/sh"),
            in: folder
        )
        #expect(try await process.waitForEnd() == .exit(0))
        #expect(folder.lines(of: "plan.md").first == "# Tracking plan 2.3")
    }

    @Test(
        "an empty output name, as from an unset variable in a script, is wrong usage",
        arguments: ["json-schema", "dbt", "html"]
    )
    func emptyName(format: String) async throws {
        let run = try await Sluice.run(Self.arguments(format) + ["--output", ""], in: try TestFolder())
        #expect(run.ending == .exit(64))
        #expect(run.errors.first == "Error: --output has an empty name.")
    }

    @Test("export writes through a symbolic link, which stays a link, and to a device")
    func links() async throws {
        let folder = try TestFolder()
        try folder.write("old", to: "real.md")
        try FileManager.default.createSymbolicLink(atPath: folder.path("link.md"), withDestinationPath: "real.md")
        #expect(try await Sluice.run(Self.arguments("markdown") + ["-o", "link.md"], in: folder).ending == .exit(0))
        #expect(folder.lines(of: "real.md").first == "# Tracking plan 2.3")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("link.md")) == "real.md")
        #expect(try await Sluice.run(Self.arguments("markdown") + ["-o", "/dev/null"], in: folder).ending == .exit(0))
        let kind = try FileManager.default.attributesOfItem(atPath: "/dev/null")[.type] as? FileAttributeType
        #expect(kind == .typeCharacterSpecial)
    }

    @Test(
        "a plan with errors is not exported",
        arguments: ["json-schema", "openapi", "sql", "dbt", "markdown", "html"]
    )
    func brokenPlan(format: String) async throws {
        let folder = try TestFolder()
        try folder.write(Plans.broken, to: "plan/shop.plist")
        let run = try await Sluice.run("export", format, "--events", "plan", "--output", "out", in: folder)
        #expect(run.ending == .exit(1))
        #expect(run.errors.contains { $0.hasPrefix("plan/shop.plist:12:36: error: unknown type 'intger'") })
        #expect(!FileManager.default.fileExists(atPath: folder.path("out")))
    }

    private static func files(in folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).sorted().filter { path in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: folder + "/" + path, isDirectory: &isFolder)
                && !isFolder.boolValue
        }
    }
}
