import Foundation
import ServerTestSupport
import Testing

/// Web pages of another origin, in headless Chromium.
@Suite("Web pages that send events", .timeLimit(.minutes(5)))
struct BrowserClientTests {
    private struct Outcome: Decodable {
        let status: Int
        let code: String?
        let retryAfter: String?
    }

    /// A page that sends in every way, and writes down what it could read.
    private static let page = """
        <!DOCTYPE html><meta charset="utf-8"><title>Shop</title><script>
        const query = new URLSearchParams(location.search);
        const url = query.get("server") + "/v1/events";
        const event = how => JSON.stringify({name: "Page Viewed", payload: {how}});
        const outcome = async response => {
          const body = await response.json();
          return {status: response.status, code: body.error?.code, retryAfter: response.headers.get("Retry-After")};
        };
        const send = async (how, url, options) => {
          try {
            return await outcome(await fetch(url, {method: "POST", body: event(how), ...options}));
          } catch (error) {
            return {status: 0, code: error.name};
          }
        };
        const json = key => ({"Authorization": "Bearer " + key, "Content-Type": "application/json"});
        (async () => {
          const outcomes = {
            preflighted: await send("preflighted", url, {headers: json(query.get("key")), credentials: "include", keepalive: true}),
            simple: await send("simple", url + "?key=" + query.get("key"), {keepalive: true}),
            unknown: await send("unknown", url + "?key=unknown", {}),
            limited: await send("limited", url + "?key=" + query.get("limited"), {}),
            foreign: await send("foreign", url + "?key=" + query.get("foreign"), {}),
          };
          const isQueued = navigator.sendBeacon(url + "?key=" + query.get("key"), event("beacon"));
          outcomes.beacon = {status: isQueued ? 200 : 0};
          const result = document.createElement("pre");
          result.textContent = JSON.stringify(outcomes);
          document.body.append(result);
        })();
        </script><body></body>
        """
    private static let plan = """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0">
        <dict><key>events</key><dict><key>Page Viewed</key><dict>
            <key>registeredTrackers</key><array><string>console</string></array>
            <key>payload</key><dict><key>how</key><dict><key>type</key><string>string</string></dict></dict>
        </dict></dict></dict>
        </plist>
        """

    /// A page that sends to the endpoints of Segment's and RudderStack's clients, each time with other header fields.
    private static let pageOfSDKs = """
        <!DOCTYPE html><meta charset="utf-8"><title>Shop</title><script>
        const query = new URLSearchParams(location.search);
        const basic = {"Authorization": "Basic " + btoa(query.get("key") + ":"), "Content-Type": "application/json"};
        const now = new Date().toISOString();
        const rudder = {...basic, "AnonymousId": "YQ==", "SentAt": now};
        const attempts = {
          // @rudderstack/analytics-js 3.31: the first attempt, and a retry.
          rudder: ["/v1/track", {...rudder}],
          rudderRetry: ["/v1/batch", {...rudder, "Rsa-Retry-Attempt": "1", "Rsa-Since-Last-Attempt": "1000",
            "Rsa-Since-First-Attempt": "1000", "Rsa-Retry-Reason": "server-429", "Rsa-Recovered": "true"}],
          // @segment/analytics-next: the second attempt, which may also have the key in a header field.
          segmentRetry: ["/v1/t", {"Content-Type": "text/plain", "X-Retry-Count": "1"}],
          segmentBatchRetry: ["/v1/b", {...basic, "X-Retry-Count": "2"}],
          traced: ["/v1/t", {...basic, "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}],
        };
        (async () => {
          const outcomes = {};
          for (const [how, [path, headers]] of Object.entries(attempts)) {
            const message = {type: "track", event: "Page Viewed", properties: {how}, writeKey: query.get("key")};
            const body = JSON.stringify(/b/.test(path) ? {batch: [message]} : message);
            try {
              const answer = await fetch(query.get("server") + path, {method: "POST", body, headers});
              outcomes[how] = {status: answer.status, code: (await answer.json()).code};
            } catch (error) {
              outcomes[how] = {status: 0, code: error.name};
            }
          }
          const result = document.createElement("pre");
          result.textContent = JSON.stringify(outcomes);
          document.body.append(result);
        })();
        </script><body></body>
        """

    @Test("events of Segment's and RudderStack's clients arrive with all header fields that they send, also on retries")
    func headersOfSDKs() async throws {
        let folder = try TestFolder()
        try folder.write(Self.plan, to: "pages.plist")
        try folder.write(Self.pageOfSDKs, to: "site/index.html")
        let site = try ClientScript.start("pages", [folder.path("site")], in: folder)
        defer { kill(site.processID, SIGKILL) }
        let origin = try #require(await site.output?.line(containing: "http://"))
        let made = try await Sluice.run(["keys", "new", "web", "--origin", origin], in: folder)
        let key = try #require(made.output.first)
        let server = try await ServingSluice.start(in: folder, plan: folder.path("pages.plist"))

        let address = "\(origin)/?server=\(server.url)&key=\(key)"
        let outcomes: [String: Outcome] = try await Browser(in: folder).result(ofPage: address)
        let attempts = ["rudder", "rudderRetry", "segmentRetry", "segmentBatchRetry", "traced"]
        #expect(outcomes.mapValues(\.status) == Dictionary(uniqueKeysWithValues: attempts.map { ($0, 200) }))
        let output = try #require(server.process.output)
        for how in attempts { _ = try await output.line(containing: #""how":"\#(how)""#) }
        kill(server.process.processID, SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        #expect(output.lines.count == attempts.count)
    }

    @Test("fetch and sendBeacon deliver events, and the page can read every answer to it")
    func ways() async throws {
        let folder = try TestFolder()
        try folder.write(Self.plan, to: "pages.plist")
        try folder.write(Self.page, to: "site/index.html")
        let site = try ClientScript.start("pages", [folder.path("site")], in: folder)
        defer { kill(site.processID, SIGKILL) }
        let origin = try #require(await site.output?.line(containing: "http://"))

        func key(_ name: String, _ options: String...) async throws -> String {
            let made = try await Sluice.run(["keys", "new", name] + options, in: folder)
            return try #require(made.output.first)
        }
        let allowed = try await key("web", "--origin", origin)
        let limited = try await key("limited", "--origin", origin, "--daily", "1")
        let foreign = try await key("foreign", "--origin", "https://elsewhere.example")
        let server = try await ServingSluice.start(in: folder, plan: folder.path("pages.plist"))
        let used = try await server.request(
            "/v1/events?key=\(limited)",
            ["--data-binary", #"{"name":"Page Viewed","payload":{"how":"curl"}}"#, "-H", "Content-Type: text/plain"]
        )
        #expect(used.status == 200)

        let address = "\(origin)/?server=\(server.url)&key=\(allowed)&limited=\(limited)&foreign=\(foreign)"
        let outcomes: [String: Outcome] = try await Browser(in: folder).result(ofPage: address)
        #expect(
            outcomes.mapValues(\.status) == [
                "preflighted": 200, "simple": 200, "unknown": 401, "limited": 429, "foreign": 403, "beacon": 200,
            ]
        )
        #expect(outcomes["unknown"]?.code == "unauthorized")
        #expect(outcomes["foreign"]?.code == "forbidden-origin")
        #expect(outcomes["limited"]?.code == "daily-volume-exceeded")
        #expect(outcomes["limited"]?.retryAfter.flatMap { Int($0) } != nil, "the page must be able to read Retry-After")

        let output = try #require(server.process.output)
        for how in ["curl", "preflighted", "simple", "beacon"] {
            _ = try await output.line(containing: #""how":"\#(how)""#)
        }
        kill(server.process.processID, SIGTERM)
        #expect(try await server.process.waitForEnd() == .exit(0))
        #expect(output.lines.count == 4)
    }
}
