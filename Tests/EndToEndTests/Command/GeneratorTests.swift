import Foundation
import ServerTestSupport
import SluiceTesting
import Testing

/// `event-codegen`, the tool that the plugins run.
@Suite("event-codegen", .timeLimit(.minutes(5)))
struct GeneratorTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try FileManager.default.copyItem(atPath: Sluice.plan + "/retail.plist", toPath: folder.path("plan.plist"))
    }

    private func generate(_ arguments: String..., output: String = "Events.swift") async throws -> Finished {
        let process = try SluiceProcess(
            ["plan.plist", "--output", output] + arguments,
            program: "event-codegen",
            in: folder
        )
        let ending = try await process.waitForEnd()
        return Finished(ending: ending, output: process.output?.lines ?? [], errors: process.errors.lines)
    }

    @Test("event-codegen replaces a file that it generated, and an empty file")
    func replaced() async throws {
        try folder.write("", to: "Events.swift")
        #expect(try await generate().ending == .exit(0))
        let first = folder.lines(of: "Events.swift")
        #expect(try await generate("--access-level", "public").ending == .exit(0))
        #expect(folder.lines(of: "Events.swift").count == first.count)
        #expect(folder.lines(of: "Events.swift") != first)
    }

    @Test(
        "event-codegen does not overwrite other files, such as the plan under any name",
        arguments: ["plan", "link", "a"]
    )
    func left(name: String) async throws {
        try folder.write("struct A {}\n", to: "a.plist")
        try FileManager.default.createSymbolicLink(atPath: folder.path("link.plist"), withDestinationPath: "plan.plist")
        let before = folder.lines(of: name + ".plist")
        let run = try await generate(output: name + ".plist")
        #expect(run.ending == .exit(1))
        let sentence = "exists and was not generated; remove it, or choose another output"
        #expect(run.errors == ["error: \(name).plist \(sentence)"])
        #expect(folder.lines(of: name + ".plist") == before)
    }

    @Test("event-codegen reports an output that cannot be written")
    func unwritable() async throws {
        let here = try await generate(output: ".")
        #expect(here.errors == ["error: . is a folder; name a file in it"])
        #expect(here.ending == .exit(1))
        let nowhere = try await generate(output: "nowhere/Events.swift")
        #expect(nowhere.errors == ["error: nowhere/Events.swift cannot be written: No such file or directory"])
        #expect(nowhere.ending == .exit(1))
    }

    @Test(
        "event-codegen reports an invalid options file",
        arguments: [
            ("7", #"the options are a JSON object of strings, such as {"accessLevel": "public"}"#),
            ("{", #"the options are a JSON object of strings, such as {"accessLevel": "public"}"#),
            (#"{"prefix": "Shop"}"#, "unknown option 'prefix'; there are accessLevel, namespace, style, library"),
            (#"{"namespace": "9"}"#, "the namespace '9' is not a valid Swift identifier"),
            (#"{"namespace": "Sluice"}"#, "the namespace 'Sluice' would hide the module of that name"),
            (
                #"{"namespace": "Shop", "style": "justtrack"}"#,
                "the style 'justtrack' has no namespace; remove 'Shop'"
            ),
            (
                #"{"typePrefix": "Shop"}"#,
                "'typePrefix' is no longer an option; each target's events have a 'namespace'"
            ),
        ]
    )
    func options(text: String, sentence: String) async throws {
        try folder.write(text, to: "options.json")
        let run = try await generate("--configuration-file", "options.json")
        #expect(run.errors == ["options.json:1:1: error: \(sentence)"])
        #expect(run.ending == .exit(1))
    }

    @Test("event-codegen reports an options file that cannot be read, with the system's message")
    func unreadableOptions() async throws {
        for (name, reason) in [("nofile.json", "No such file or directory"), (".", "Is a directory")] {
            let run = try await generate("--configuration-file", name)
            #expect(run.errors == ["\(name):1:1: error: the options cannot be read: \(reason)"])
            #expect(run.ending == .exit(1))
        }
    }

    @Test("event-codegen refuses a namespace for a style without namespaces")
    func namespace() async throws {
        let run = try await generate("--style", "justtrack", "--namespace", "Shop")
        #expect(run.errors == ["error: the style 'justtrack' has no namespace; remove 'Shop'"])
        #expect(run.ending == .exit(1))
    }
}
