import EventModel
import EventPipeline
import EventQuarantine
import EventValidation
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Operations
import SluiceTesting
import Testing

/// A pipeline whose state the test sets.
struct ScriptedPipeline: OperatedPipeline {
    var statistics = PipelineStatistics()
    var unreadyReasons: [UnreadyReason] = []
    var planSummary = PlanSummary(
        version: "7",
        events: 3,
        digest: Array(repeating: 7, count: 16).withUnsafeBytes { PlanDigest($0) }
    )
    /// Whose events are shown.
    var watched: Pipeline?

    var eventStatistics: [EventStatistics] { [] }
    var rejectionStatistics: [RejectionStatistics] { [] }
    var rejectedEvents: Int { 0 }

    func recordGauges() {}
    func watch(_ filter: Pipeline.WatchFilter) -> Pipeline.Watch? { watched?.watch(filter) }
    func pause(tracker name: String) -> Bool { true }
    func resume(tracker name: String) -> Bool { true }
    func setAcceptsEvents(_ accepts: Bool) {}
}

@Suite("The private port", .timeLimit(.minutes(2)))
struct OperationsServerTests {
    private static let token = "a token of enough bytes"
    private let clock = ManualClock()

    private func server(
        token: String? = nil,
        host: String = "127.0.0.1",
        port: Int = 0,
        _ pipeline: ScriptedPipeline = ScriptedPipeline(),
        maximumConnections: Int = 64
    ) throws -> OperationsServer {
        try OperationsServer(
            configuration: .init(host: host, port: port, token: token, maximumConnections: maximumConnections),
            pipeline: pipeline,
            registry: PrometheusRegistry(),
            programVersion: "1.2.3",
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            clock: clock
        )
    }

    /// Sends requests to a server, without a socket.
    private func ask(
        _ server: OperationsServer,
        _ body: @Sendable @escaping (any TestClientProtocol) async throws -> Void
    ) async throws {
        let application = Application(responder: server.responder)
        try await application.test(.router) { client in try await body(client) }
    }

    private static func fields(_ fields: [String: String]) -> HTTPFields {
        HTTPFields(fields.compactMap { name, value in HTTPField.Name(name).map { HTTPField(name: $0, value: value) } })
    }

    @Test("listens on an address that other machines can reach only with a token of enough bytes")
    func addresses() throws {
        for host in ["0.0.0.0", "::", "192.0.2.1"] {
            let error = try #require(throws: OperationsError.self) { try server(host: host) }
            #expect(error.code == .noToken)
            #expect(throws: Never.self) { try server(token: Self.token, host: host) }
        }
        for host in ["127.0.0.1", "::1", "localhost", "127.5.5.5"] {
            #expect(throws: Never.self) { try server(host: host) }
        }
        let error = try #require(throws: OperationsError.self) { try server(token: "short") }
        #expect(error.code == .shortToken)
    }

    @Test(
        "without a token refuses requests to foreign names",
        arguments: [
            ("localhost", true), ("localhost:8081", true), ("LOCALHOST", true), ("127.0.0.1:8081", true),
            ("[::1]:8081", true),
            ("evil.example", false), ("localhost.evil.example", false), ("127.0.0.1.evil.example:8081", false),
            ("192.0.2.1", false), ("", false), ("[::1].evil.example", false),
        ]
    )
    func rebinding(host: String, isAllowed: Bool) throws {
        var request = HTTPRequest(method: .get, scheme: "http", authority: host, path: "/metrics")
        #expect(RequestSource(request).isSentToLoopback == isAllowed)
        request.authority = nil
        #expect(!RequestSource(request).isSentToLoopback)
    }

    @Test(
        "refuses requests from web pages of another origin",
        arguments: [
            ("http://localhost:8081", false), ("https://localhost:8081", false), ("http://evil.example", true),
            ("null", true), ("http://localhost", true), ("http://localhost:8081.evil.example", true),
        ]
    )
    func origins(origin: String, isForeign: Bool) throws {
        var request = HTTPRequest(method: .post, scheme: "http", authority: "localhost:8081", path: "/logout")
        #expect(!RequestSource(request).isForeign)
        request.headerFields[.origin] = origin
        #expect(RequestSource(request).isForeign == isForeign)
    }

    @Test("answers machines that send the token, and no others")
    func bearer() async throws {
        try await ask(try server(token: Self.token)) { client in
            for (value, status) in [
                ("Bearer \(Self.token)", HTTPResponse.Status.ok), ("bearer \(Self.token)", .ok),
                ("Bearer \(Self.token)!", .unauthorized), ("Bearer", .unauthorized),
                ("Basic \(Self.token)", .unauthorized),
                ("Bearer wrong", .unauthorized), ("", .unauthorized),
            ] {
                let answer = try await client.execute(
                    uri: "/metrics",
                    method: .get,
                    headers: Self.fields(["Authorization": value])
                )
                #expect(answer.status == status, "\(value)")
                if status == .unauthorized { #expect(answer.headers[.wwwAuthenticate] == "Bearer") }
            }
            let live = try await client.execute(uri: "/livez", method: .get)
            #expect(live.status == .ok)
            let ready = try await client.execute(uri: "/readyz", method: .get)
            #expect(ready.status == .unauthorized)
        }
    }

    @Test("lets a browser in with a cookie, until the session expires or the user logs out")
    func sessions() async throws {
        try await ask(try server(token: Self.token)) { [clock] client in
            let accept = ["Accept": "text/html"]
            let page = try await client.execute(uri: "/", method: .get, headers: Self.fields(accept))
            #expect(page.headers[.location] == "/login")
            func logIn() async throws -> String {
                let answer = try await client.execute(
                    uri: "/login",
                    method: .post,
                    headers: Self.fields(["Content-Type": "application/x-www-form-urlencoded"]),
                    body: ByteBuffer(string: "token=a+token%20of+enough+bytes")
                )
                #expect(answer.status == .seeOther)
                let cookie = try #require(answer.headers[.setCookie])
                for attribute in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age=43200"] {
                    #expect(cookie.contains(attribute), "\(cookie)")
                }
                return String(cookie.prefix { $0 != ";" })
            }
            func status(_ cookie: String) async throws -> HTTPResponse.Status {
                try await client.execute(uri: "/metrics", method: .get, headers: Self.fields(["Cookie": cookie])).status
            }
            let first = try await logIn()
            #expect(try await status(first) == .ok)
            #expect(try await status(first + "0") == .unauthorized)
            _ = try await client.execute(uri: "/logout", method: .post, headers: Self.fields(["Cookie": first]))
            #expect(try await status(first) == .unauthorized)
            let second = try await logIn()
            clock.advance(by: .seconds(12 * 3600 - 1))
            #expect(try await status(second) == .ok)
            clock.advance(by: .seconds(1))
            #expect(try await status(second) == .unauthorized)
        }
    }

    @Test("a live tail ends when the session of its browser ends, and that of a machine does not")
    func tailOfSession() async throws {
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let watched = try Pipeline(
            catalog: .scripted(["A": ["alpha"]]),
            trackers: [],
            quarantine: .discarding(logger: quiet),
            logger: quiet
        )
        try await ask(try server(token: Self.token, ScriptedPipeline(watched: watched))) { [clock] client in
            let form = ["Content-Type": "application/x-www-form-urlencoded"]
            let token = ByteBuffer(string: "token=" + Self.token.replacing(" ", with: "+"))
            let login = try await client.execute(
                uri: "/login",
                method: .post,
                headers: Self.fields(form),
                body: token
            )
            let cookie = Self.fields(["Cookie": String((login.headers[.setCookie] ?? "").prefix { $0 != ";" })])
            try await withThrowingTaskGroup { group in
                group.addTask {
                    let tail = try await client.execute(uri: "/v1/tail", method: .get, headers: cookie)
                    #expect(String(buffer: tail.body) == String(repeating: ": nothing\n\n", count: 2))
                }
                // The heartbeat, and then the one with which the answer ends.
                await clock.waitForSleeper(for: .seconds(10))
                clock.advance(by: .seconds(10))
                await clock.waitForSleeper(for: .seconds(10))
                _ = try await client.execute(uri: "/logout", method: .post, headers: cookie)
                clock.advance(by: .seconds(10))
                try await group.waitForAll()
            }
        }
    }

    @Test("a wrong token is answered after a pause, and no further login once all places are taken")
    func wrongTokens() async throws {
        try await ask(try server(token: Self.token)) { [clock] client in
            let statuses = try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
                for _ in 0..<9 { group.addTask { try await Self.guess(client) } }
                let first = try await group.next()
                await clock.waitForSleepers(8)
                let token = Self.token.replacing(" ", with: "+")
                #expect(try await Self.logIn(client, with: token) == .tooManyRequests)
                clock.advance(by: .milliseconds(500))
                return try await group.reduce(into: [first]) { $0.append($1) }
            }
            #expect(statuses == [.tooManyRequests] + Array(repeating: .unauthorized, count: 8))
        }
    }

    @Test("a login form that is not one is an error of the sender")
    func malformedLogin() async throws {
        try await ask(try server(token: Self.token)) { client in
            for body in ["x=1", "", "token"] {
                let answer = try await client.execute(
                    uri: "/login",
                    method: .post,
                    headers: Self.fields(["Content-Type": "application/x-www-form-urlencoded"]),
                    body: ByteBuffer(string: body)
                )
                #expect(answer.status == .badRequest, "\(body)")
                #expect(answer.headers[.cacheControl] == "no-store")
            }
        }
    }

    /// Tries a wrong token.
    private static func guess(_ client: any TestClientProtocol) async throws -> HTTPResponse.Status {
        try await logIn(client, with: "guess")
    }

    private static func logIn(_ client: any TestClientProtocol, with token: String) async throws -> HTTPResponse.Status
    {
        let answer = try await client.execute(
            uri: "/login",
            method: .post,
            headers: fields(["Content-Type": "application/x-www-form-urlencoded"]),
            body: ByteBuffer(string: "token=\(token)")
        )
        return answer.status
    }

    @Test("says why the pipeline is not ready, and what each tracker does")
    func health() async throws {
        var pipeline = ScriptedPipeline()
        pipeline.unreadyReasons = [.journalFull]
        var tracker = TrackerStatistics(name: "postgres")
        tracker.status = .blocked
        tracker.reason = "The table is missing."
        tracker.lagEvents = 12
        tracker.lag = .milliseconds(1500)
        pipeline.statistics.trackers = [tracker]
        try await ask(try server(pipeline)) { client in
            let answer = try await client.execute(
                uri: "/readyz",
                method: .get,
                headers: Self.fields(["Host": "localhost"])
            )
            #expect(answer.status == .serviceUnavailable)
            let digest = ScriptedPipeline().planSummary.digest
            let expected = #"""
                {"accepted":0,"changedSettings":[],"committingBatches":0,"plan":{"digest":"\#(digest)","events":3,"version":"7"},"reasons":["journal-full"],"rejected":0,"rejections":[],"status":"unready","trackers":[\#
                {"brokenEvents":{},"delivered":0,"dropped":0,"lagEvents":12,"lagIsUpperBound":false,"lagSeconds":1.5,\#
                "name":"postgres","parked":0,"queuedBytes":0,"queuedEvents":0,"reason":"The table is missing.","refused":0,"retried":0,"status":"blocked"}],\#
                "unrouted":0,"version":"1.2.3","waitingBatches":0}

                """#
            #expect(String(buffer: answer.body) == expected)
        }
    }

    @Test("tells browsers to keep nothing, and to load nothing")
    func protection() async throws {
        try await ask(try server()) { client in
            for path in ["/", "/metrics", "/nothing"] {
                let answer = try await client.execute(
                    uri: path,
                    method: .get,
                    headers: Self.fields(["Host": "localhost"])
                )
                #expect(answer.headers[.cacheControl] == "no-store")
                #expect(answer.headers[.xContentTypeOptions] == "nosniff")
                #expect(answer.headers[.contentSecurityPolicy]?.hasPrefix("default-src 'none'") == true)
            }
        }
    }

    @Test("a long login form is refused")
    func longForm() async throws {
        try await ask(try server(token: Self.token)) { client in
            let answer = try await client.execute(
                uri: "/login",
                method: .post,
                headers: Self.fields(["Content-Type": "application/x-www-form-urlencoded"]),
                body: ByteBuffer(string: "token=" + String(repeating: "x", count: 5000))
            )
            #expect(answer.status == .contentTooLarge)
        }
    }
}
