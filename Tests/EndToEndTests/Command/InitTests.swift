import Foundation
import ServerTestSupport
import Testing

/// `sluice init`, and every command among the next steps that it prints.
@Suite("sluice init", .timeLimit(.minutes(5)))
struct InitTests {
    @Test("the plan of init has no problems, and the server accepts its valid example and rejects the invalid one")
    func nextSteps() async throws {
        let folder = try TestFolder()
        let run = try await Sluice.run("init", "my shop", in: folder)
        #expect(run.ending == .exit(0) && run.errors == [])
        let commands = Self.commands(in: run.output)
        #expect(commands.first == "cd 'my shop'")
        #expect(commands.contains("sluice lint") && commands.contains("sluice serve --config sluice.yaml"))

        let shop = try TestFolder.inside(folder, "my shop")
        let check = try await Sluice.run("config", "check", "--config", "sluice.yaml", in: shop)
        #expect(check.ending == .exit(0) && check.output == ["sluice.yaml: no problems"])
        let lint = try await Sluice.run("lint", in: shop)
        #expect(lint.ending == .exit(0) && lint.output == [] && lint.errors == ["1 event, no problems"])
        let server = try await ServingSluice.start(["--config", "sluice.yaml"], in: shop, plan: "events")
        let curls = commands.filter { $0.hasPrefix("curl ") }
        #expect(curls.count == 2)
        var answers: [String] = []
        for curl in curls {
            let here = curl.replacingOccurrences(of: "http://127.0.0.1:8080", with: server.url)
            answers.append(try await Command.run("bash", ["-c", here]).text)
        }
        #expect(answers[0] == #"{"accepted":1,"rejected":[]}"#)
        #expect(answers[1].hasPrefix(#"{"accepted":0,"rejected":[{"index":0,"#))
        #expect(answers[1].contains("$.payload.orderId") && answers[1].contains("$.payload.total"))
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))

        let more = try #require(commands.last)
        #expect(more == #"sluice new-event "Order Cancelled" --owner checkout"#)
        #expect(
            try await Sluice.run("new-event", "Order Cancelled", "--owner", "checkout", in: shop).ending == .exit(0)
        )
        #expect(try await Sluice.run("lint", in: shop).errors == ["2 events, no problems"])
    }

    @Test("init --segment writes the events of Segment's clients, into a new folder or beside an existing plan")
    func segment() async throws {
        let folder = try TestFolder()
        #expect(try await Sluice.run("init", "--segment", in: folder).ending == .exit(0))
        #expect(try await Sluice.run("lint", in: folder).errors == ["6 events, no problems"])
        let server = try await ServingSluice.start([], in: folder, plan: "events")
        let messages = [
            ("identify", #""userId":"u","traits":{"email":"a@example.com"}"#),
            ("page", #""userId":"u","name":"Home","properties":{"url":"/"}"#),
            ("screen", #""userId":"u","name":"Start""#),
            ("group", #""userId":"u","groupId":"g","traits":{"name":"G"}"#),
            ("alias", #""userId":"u","previousId":"v""#),
        ]
        for (type, members) in messages {
            let body = ["-H", "Content-Type: application/json", "--data-binary", "{\(members)}"]
            let answer = try await server.request("/v1/\(type)", body)
            #expect(answer.body.hasPrefix(#"{"success":true,"accepted":1"#), "\(type): \(answer.body)")
        }
        server.process.send(SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))

        let again = try await Sluice.run("init", "--segment", in: folder)
        #expect(again.errors == ["error: 'events/segment.plist' already exists; nothing was written."])
        let other = try TestFolder()
        try other.write(Plans.shop(minimumQuantity: 1), to: "events/shop.plist")
        #expect(try await Sluice.run("init", "--segment", in: other).ending == .exit(0))
        #expect(try await Sluice.run("lint", in: other).errors == ["6 events, no problems"])
        #expect(!FileManager.default.fileExists(atPath: other.path("sluice.yaml")))
    }

    @Test("init overwrites no file", arguments: ["events/mine.txt", "sluice.yaml"])
    func overwriting(name: String) async throws {
        let folder = try TestFolder()
        try folder.write("mine", to: name)
        let run = try await Sluice.run("init", in: folder)
        #expect(run.ending == .exit(1) && run.output == [])
        let taken = name.split(separator: "/")[0]
        #expect(run.errors == ["error: '\(taken)' already exists; nothing was written."])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [String(taken)])
        #expect(folder.lines(of: name) == ["mine"])
    }

    @Test("if init cannot write all of its files, it writes none")
    func half() async throws {
        let folder = try TestFolder()
        let link = folder.path("sluice.yaml")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "nowhere")
        let run = try await Sluice.run("init", in: folder)
        #expect(run.ending == .exit(1) && run.output == [])
        #expect(run.errors == ["error: 'sluice.yaml' already exists; nothing was written."])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["sluice.yaml"])

        // With a file size limit of 0, the first file can be created, but not written.
        let program = try SluiceProcess.executable().path
        let script = "trap '' XFSZ; cd '\(folder.url.path)'; ulimit -f 0; exec '\(program)' init a/b"
        #expect(try await Command.run("bash", ["-c", script]).status == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["sluice.yaml"])
    }

    @Test("init uses the current folder by default, and reports a folder that cannot be created")
    func folders() async throws {
        let folder = try TestFolder()
        let here = try await Sluice.run("init", in: folder)
        #expect(here.ending == .exit(0))
        #expect(Self.commands(in: here.output).first == "sluice lint")
        #expect(FileManager.default.fileExists(atPath: folder.path("events/orders.plist")))
        let file = try await Sluice.run("init", "sluice.yaml/shop", in: folder)
        #expect(file.ending == .exit(1))
        #expect(file.errors == ["error: 'sluice.yaml' is not a folder."])
        #expect(try await Sluice.run("init", "", in: folder).ending == .exit(64))
    }

    /// The indented commands in a text; a line that is indented further continues the one before.
    private static func commands(in lines: [String]) -> [String] {
        var commands: [String] = []
        for line in lines where line.hasPrefix("    ") {
            let text = String(line.dropFirst(4))
            if text.hasPrefix(" "), let last = commands.popLast() {
                commands.append(last + "\n" + text)
            } else {
                commands.append(text)
            }
        }
        return commands
    }
}
