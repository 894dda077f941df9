import Foundation
import ServerTestSupport
import Testing

/// The OpenAPI document, held against a running server.
@Suite("The exported OpenAPI document", .timeLimit(.minutes(10)))
struct OpenAPITests {
    /// Small, so that the requests that are derived from its events are few.
    private static let plan = """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0">
        <dict><key>events</key><dict>
            <key>Item Purchased</key><dict>
                <key>registeredTrackers</key><array><string>console</string></array>
                <key>payload</key><dict>
                    <key>quantity</key><dict><key>type</key><string>integer</string><key>minimum</key><integer>1</integer></dict>
                    <key>price</key><dict><key>type</key><string>decimal</string></dict>
                    <key>time</key><dict><key>type</key><string>timestamp</string><key>required</key><false/></dict>
                </dict>
            </dict>
            <key>Pfand zurückgegeben</key><dict>
                <key>registeredTrackers</key><array><string>console</string></array>
            </dict>
        </dict></dict>
        </plist>
        """

    /// Schemathesis sends requests that it derives from the document, and compares the answers with it.
    ///
    /// Two of its checks expect a failure for each body that does not follow its schema, and none for one that does. Sluice answers
    /// 200 to a body with valid and invalid events, which the answer tells apart, and 422 to one whose event breaks a rule that no
    /// schema expresses, such as the server's own limits. So these two do not fit, and are switched off.
    private static func schemathesis(_ document: String, _ server: String, key: String?) -> [String] {
        [
            "run", document, "--url", server, "--exclude-checks", "positive_data_acceptance,negative_data_rejection",
            // The phase "coverage" sends the same bodies with and without keys, and takes most of the time.
            "--phases", key == nil ? "examples,fuzzing" : "examples,coverage,fuzzing",
            "--max-examples", "3", "--seed", "1", "--no-color",
        ] + (key.map { ["--header", "Authorization: Bearer \($0)"] } ?? [])
    }

    @Test("describes every answer of a running server, with keys and without", arguments: [true, false])
    func answers(hasKeys: Bool) async throws {
        let folder = try TestFolder()
        let plan = try folder.write(Self.plan, to: "shop.plist")
        var key: String?
        if hasKeys {
            key = try await Sluice.run("keys", "new", "all", "--origin", "*", in: folder).output.first
            try #require(key != nil)
        }
        let options = hasKeys ? [] : ["--open"]
        let export = ["export", "openapi", "--events", plan, "--output", "openapi.json"] + options
        #expect(try await Sluice.run(export, in: folder).ending == .exit(0))
        let server = try await ServingSluice.start(options, in: folder, plan: plan)
        let process = try SluiceProcess(
            Self.schemathesis(folder.path("openapi.json"), server.url, key: key),
            executable: ClientScript.program("schemathesis"),
            in: folder
        )
        let ending = try await process.waitForEnd()
        let report = process.output?.lines ?? []
        #expect(ending == .exit(0), "\(report.drop { !$0.contains("FAILURES") }.prefix(60).joined(separator: "\n"))")
        // That nothing was left out.
        #expect(report.contains { $0.contains("Tested: 95") }, "\(report.suffix(30))")
        kill(server.process.processID, SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        #expect(try #require(server.process.output).lines.count > 0, "no request had a valid event")
    }

    @Test(
        "is valid OpenAPI 3.1, whatever the events are called",
        arguments: [Sluice.plan, RepositoryFile.url("Tests/Golden/Names/names.plist").path, "empty.plist"]
    )
    func valid(plan: String) async throws {
        let folder = try TestFolder()
        try folder.write("<plist><dict><key>events</key><dict/></dict></plist>", to: "empty.plist")
        let export = try await Sluice.run("export", "openapi", "--events", plan, "--output", "openapi.json", in: folder)
        #expect(export.ending == .exit(0))
        let process = try SluiceProcess(
            [folder.path("openapi.json")],
            executable: ClientScript.program("openapi-spec-validator"),
            in: folder
        )
        #expect(try await process.waitForEnd() == .exit(0), "\(process.output?.lines.prefix(20) ?? [])")
    }

    @Test("names the server and leaves out keys, if that is asked for")
    func options() async throws {
        let folder = try TestFolder()
        func document(_ options: String...) async throws -> String {
            let arguments = ["export", "openapi", "--events", Sluice.plan] + options
            return try await Sluice.output(of: arguments)
        }
        let keyed = try await document("--server", "https://events.shop.example")
        #expect(keyed.contains(#""url": "https://events.shop.example""#))
        #expect(keyed.contains(#""scheme": "bearer""#))
        #expect(keyed.contains(#""unauthorized""#))
        let open = try await document("--open")
        #expect(!open.contains(#""scheme""#))
        #expect(!open.contains(#""unauthorized""#))
        let wrong = try await Sluice.run("export", "openapi", "--server", "shop", in: folder)
        #expect(wrong.ending == .exit(64))
        #expect(wrong.errors.first == "Error: --server takes a URL such as https://events.example.com.")
    }
}
