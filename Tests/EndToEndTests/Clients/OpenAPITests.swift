import EventValidation
import Foundation
import PlanTools
import SluiceHTTP
import Testing

/// The OpenAPI document of the public port, held against the server.
@Suite("The OpenAPI document", .timeLimit(.minutes(15)))
struct OpenAPITests {
    /// The checks of schemathesis that do not fit the server.
    ///
    /// A request with rejected events is answered 200 so that the clients of other products do not discard its batch, and one with
    /// valid JSON may have them. So neither is all valid data accepted, nor all invalid data refused.
    private static let excludedChecks = "positive_data_acceptance,negative_data_rejection"

    private static func program(_ name: String) throws -> URL {
        let url = RepositoryFile.url(".run/clients/bin/\(name)")
        try #require(
            FileManager.default.isExecutableFile(atPath: url.path),
            "\(name) is not installed: run `make setup-test`"
        )
        return url
    }

    /// Writes the document of the project's plan, and returns its name.
    private static func export(to folder: TestFolder, _ options: String...) async throws -> String {
        let arguments = ["export", "openapi", "--events", Sluice.plan, "--output", "openapi.json"] + options
        let run = try await Sluice.run(arguments, in: folder)
        #expect(run.ending == .exit(0))
        return "openapi.json"
    }

    /// Lets schemathesis make requests of a document, and expects that each answer is as the document says.
    private static func test(_ document: String, _ url: String, in folder: TestFolder, _ options: String...)
        async throws
    {
        let fixed = ["run", document, "--url", url, "--exclude-checks", excludedChecks, "--seed", "1", "--no-color"]
        let tool = try SluiceProcess(fixed + options, executable: program("schemathesis"), in: folder)
        #expect(
            try await tool.waitForEnd() == .exit(0),
            "\((tool.output?.lines ?? []).suffix(60).joined(separator: "\n"))"
        )
        #expect(tool.output?.lines.contains { $0.hasSuffix(" passed") || $0.contains(" passed,") } == true)
    }

    @Test("it is valid OpenAPI 3.1, with and without keys", arguments: [[], ["--open"]])
    func valid(options: [String]) async throws {
        let folder = try TestFolder()
        let document = options.isEmpty ? try await Self.export(to: folder) : try await Self.export(to: folder, "--open")
        let tool = try SluiceProcess([document], executable: Self.program("openapi-spec-validator"), in: folder)
        #expect(try await tool.waitForEnd() == .exit(0), "\(tool.output?.lines ?? [])")
    }

    @Test("it has exactly the paths and the codes of the server")
    func complete() {
        #expect(Set(OpenAPIExport.paths) == Set(ServedPaths.all))
        #expect(Set(OpenAPIExport.failureCodes) == Set(FailureCode.allCases.map(\.rawValue)))
        #expect(Set(OpenAPIExport.verdictCodes) == Set(VerdictCode.allCases.map(\.rawValue)))
    }

    @Test("a server without keys answers as it says, to valid and invalid requests")
    func open() async throws {
        let folder = try TestFolder()
        let document = try await Self.export(to: folder, "--open")
        let server = try await ServingSluice.start("--no-journal", in: folder)
        try await Self.test(document, server.url, in: folder, "--max-examples", "2")
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }

    @Test("a server with keys answers as it says, with a key and without")
    func keys() async throws {
        let folder = try TestFolder()
        let document = try await Self.export(to: folder)
        let key = try #require(try await Sluice.run("keys", "new", "web", in: folder).output.first)
        let server = try await ServingSluice.start("--no-journal", in: folder)
        try await Self.test(
            document,
            server.url,
            in: folder,
            "--header",
            "Authorization: Bearer \(key)",
            "--phases",
            "examples,fuzzing",
            "--max-examples",
            "5"
        )
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
    }
}
