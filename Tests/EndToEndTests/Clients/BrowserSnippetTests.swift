import Foundation
import ServerTestSupport
import TestPromises
import Testing

/// `Clients/browser/sluice.js` in headless Chromium, on a page of another origin.
@Suite("The snippet for web pages", .timeLimit(.minutes(5)))
struct BrowserSnippetTests {
    private struct Outcome: Decodable {
        /// How many events wait in `localStorage`.
        let waiting: Int
        /// How many requests the page has begun.
        let requests: Int
        /// The names of the errors that the page has written to the console.
        let errors: [String]
    }

    /// Tracks as many events as the query says, and writes down how many wait once none does, or once the time is up.
    private static let page = """
        <!DOCTYPE html><meta charset="utf-8"><title>Shop</title><script src="sluice.js"></script><script>
        const query = new URLSearchParams(location.search), key = query.get("key");
        if (query.get("full")) {
          let text = "x".repeat(1 << 20);
          for (let n = 0; text; n++) {
            try { localStorage["other" + n] = text } catch { text = text.slice(text.length >> 1 || 1) }
          }
        }
        let requests = 0;
        const realFetch = fetch;
        window.fetch = (...request) => {
          const answer = realFetch(...request);
          if (requests++ || !query.get("hold")) return answer;
          // The first request stays under way while the page is left, with an event that came after it.
          events.track("Item Viewed", {n: 99});
          dispatchEvent(new Event("pagehide"));
          return new Promise(() => {});
        };
        if (query.get("storm")) setInterval(() => dispatchEvent(new Event("visibilitychange")), 20);
        const events = sluice(key, query.get("server"));
        events.identify("17850");
        const errors = [];
        console.error = error => errors.push(error.name);
        if (query.get("invalid")) {
          const cycle = {n: 97};
          cycle.self = cycle;
          const changed = {n: 98};
          for (const payload of [{n: 97n}, cycle, {n: 97, toJSON() { throw new RangeError }}, changed]) {
            events.track("Item Viewed", payload);
          }
          changed.self = changed;
        }
        for (let n = 0; n < query.get("count"); n++) events.track("Item Viewed", {n});
        const waiting = () => JSON.parse(localStorage["sluice:" + key] || "[]").length;
        const finish = () => {
          const result = document.createElement("pre");
          result.textContent = JSON.stringify({waiting: waiting(), requests, errors});
          document.body.append(result);
        };
        if (query.get("leave")) location.href = "left.html";
        else {
          const end = Date.now() + 1000 * query.get("seconds");
          const look = () => waiting() && Date.now() < end ? setTimeout(look, 50) : finish();
          setTimeout(look, query.get("delay") || 50);
        }
        </script><body></body>
        """
    private static let plan = """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0">
        <dict><key>events</key><dict><key>Item Viewed</key><dict>
            <key>registeredTrackers</key><array><string>console</string></array>
            <key>payload</key><dict><key>n</key><dict><key>type</key><string>integer</string></dict></dict>
        </dict></dict></dict>
        </plist>
        """

    /// A web site with the page, a key for it, and a server.
    private struct Scene {
        let folder: TestFolder
        let site: SluiceProcess
        let origin: String
        let key: String

        init() async throws {
            folder = try TestFolder()
            try folder.write(BrowserSnippetTests.plan, to: "plan.plist")
            try folder.write(BrowserSnippetTests.page, to: "site/index.html")
            try folder.write(
                "<!DOCTYPE html><title>Left</title><body><pre>{\"waiting\":0,\"requests\":0,\"errors\":[]}</pre></body>",
                to: "site/left.html"
            )
            try folder.write(RepositoryFile.text("Clients/browser/sluice.js"), to: "site/sluice.js")
            site = try ClientScript.start("pages", [folder.path("site")], in: folder)
            origin = try #require(await site.output?.line(containing: "http://"))
            let made = try await Sluice.run(["keys", "new", "web", "--origin", origin], in: folder)
            key = try #require(made.output.first)
        }

        func serve() async throws -> ServingSluice {
            try await ServingSluice.start(in: folder, plan: folder.path("plan.plist"))
        }

        /// Opens the page, and returns how many events wait at the end.
        func open(_ server: String, count: Int, _ options: String) async throws -> Int {
            try await outcome(server, count: count, options).waiting
        }

        /// Opens the page, and returns what it says at the end.
        func outcome(_ server: String, count: Int, _ options: String) async throws -> Outcome {
            let address = "\(origin)/?server=\(server)&key=\(key)&count=\(count)&\(options)"
            return try await Browser(in: folder).result(ofPage: address)
        }

        /// Stops the server, and returns the events that it delivered.
        func delivered(by server: ServingSluice) async throws -> [Event] {
            server.process.send(SIGTERM)
            #expect(try await server.process.waitForEnd() == .exit(0))
            return try (server.process.output?.lines ?? []).map { line in
                try JSONDecoder().decode(Event.self, from: Data(line.utf8))
            }
        }
    }

    private struct Event: Decodable {
        struct Payload: Decodable {
            let n: Int
        }

        let id: String
        let userId: String
        let anonymousId: String
        let payload: Payload
    }

    @Test("events that find localStorage full wait in the page, and arrive")
    func full() async throws {
        let scene = try await Scene()
        defer { kill(scene.site.processID, SIGKILL) }
        let server = try await scene.serve()
        _ = try await scene.open(server.url, count: 3, "full=1&seconds=9&delay=4000")
        #expect(try await scene.delivered(by: server).map(\.payload.n).sorted() == [0, 1, 2])
    }

    @Test(
        "an event that is not JSON is dropped with an error in the console, and the others are sent",
        arguments: ["seconds=9", "full=1&seconds=9&delay=4000"]
    )
    func invalid(options: String) async throws {
        let scene = try await Scene()
        defer { kill(scene.site.processID, SIGKILL) }
        let server = try await scene.serve()
        let outcome = try await scene.outcome(server.url, count: 2, "invalid=1&\(options)")
        #expect(outcome.errors == ["TypeError", "TypeError", "RangeError"])
        // As it was when it was tracked.
        #expect(try await scene.delivered(by: server).map(\.payload.n).sorted() == [0, 1, 98])
    }

    @Test("an event that is tracked while a request is under way is sent when the page is left")
    func underWay() async throws {
        let scene = try await Scene()
        defer { kill(scene.site.processID, SIGKILL) }
        let server = try await scene.serve()
        _ = try await scene.open(server.url, count: 1, "hold=1&seconds=3")
        #expect(try await scene.delivered(by: server).map(\.payload.n).sorted() == [0, 99])
    }

    @Test("while the server cannot be reached, showing and hiding the page sends nothing before its time")
    func backoff() async throws {
        let scene = try await Scene()
        defer { kill(scene.site.processID, SIGKILL) }
        let outcome = try await scene.outcome("http://127.0.0.1:1", count: 1, "storm=1&seconds=3")
        #expect(outcome.waiting == 1)
        #expect((1...3).contains(outcome.requests), "\(outcome.requests)")
    }

    @Test("it is smaller than 2 KB")
    func size() throws {
        #expect(try RepositoryFile.text("Clients/browser/sluice.js").utf8.count < 2048)
    }

    @Test(
        "events wait while the server is down, and arrive once it is back, on another page, each with one id",
        .promise("client-queues")
    )
    func outage() async throws {
        let scene = try await Scene()
        defer { kill(scene.site.processID, SIGKILL) }
        #expect(try await scene.open("http://127.0.0.1:1", count: 3, "seconds=3") == 3)
        let server = try await scene.serve()
        #expect(try await scene.open(server.url, count: 2, "seconds=9") == 0)
        let events = try await scene.delivered(by: server)
        #expect(events.map(\.payload.n).sorted() == [0, 0, 1, 1, 2])
        #expect(Set(events.map(\.id)).count == 5)
        #expect(Set(events.map(\.anonymousId)).count == 1)
        #expect(Set(events.map(\.userId)) == ["17850"])
    }

    @Test("a page that is closed at once has sent its events", .promise("client-queues"))
    func leaving() async throws {
        let scene = try await Scene()
        defer { kill(scene.site.processID, SIGKILL) }
        let server = try await scene.serve()
        _ = try await scene.open(server.url, count: 20, "leave=1")
        let output = try #require(server.process.output)
        try await output.waitForLines(20)
        #expect(try await Set(scene.delivered(by: server).map(\.payload.n)) == Set(0..<20))
    }
}
