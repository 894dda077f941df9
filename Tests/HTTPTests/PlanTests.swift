import EventPipeline
import EventSchema
import EventValidation
import NIOCore
import PipelineTestSupport
import ServerTestSupport
import SluiceHTTP
import SluiceTesting
import TestPromises
import Testing

/// `GET /v1/plan`, with a schema that lists the events' names.
@Suite("The plan of a key", .timeLimit(.minutes(5)))
struct PlanTests {
    private static let path = "/v1/plan"

    private static func setup(
        keys: [WriteKey]? = nil,
        _ schema: (@Sendable (TrackingPlan) -> String)? = { $0.events.map(\.name).joined(separator: ",") }
    ) -> TestServer.Setup {
        var setup = TestServer.Setup(plan: KeyedExchange.plan, keys: keys)
        setup.planSchema = schema
        return setup
    }

    private static func get(_ key: String = "", fields: String = "", method: String = "GET") -> String {
        Requests.plain(method, key.isEmpty ? path : path + "?key=" + key, fields: fields)
    }

    /// Sends requests on one connection to a server of their own.
    private static func send(_ requests: String..., setup: TestServer.Setup) async throws -> [RawClient.Response] {
        try await TestServer.run(setup) { server in
            try await RawClient.with(server.address) { client in
                var responses: [RawClient.Response] = []
                for request in requests {
                    let hasBody = !request.hasPrefix("HEAD")
                    responses.append(try await client.exchange(request, hasBody: hasBody))
                }
                return responses
            }
        }
    }

    // MARK: What is served

    @Test(
        "is the schema of the events that the key may send, and without keys of all events",
        .promise("plan-requests")
    )
    func events() async throws {
        let keys = [
            KeyedExchange.key(events: ["Pong", "Unknown"]), KeyedExchange.key("app"),
            KeyedExchange.key("none", events: []),
        ]
        let keyed = try await Self.send(
            Self.get("web-key"),
            Self.get(fields: "Authorization: Bearer app-key\r\n"),
            Self.get(fields: "Authorization: Basic bm9uZS1rZXk6\r\n"),
            setup: Self.setup(keys: keys)
        )
        #expect(keyed.map(\.status) == [200, 200, 200])
        #expect(keyed.map(\.body) == ["Pong", "Ping,Pong", ""])
        #expect(keyed[0].field("content-type") == "application/schema+json")
        #expect(keyed[0].field("cache-control") == "private, no-cache")
        #expect(Set(keyed.map { $0.field("etag") }).count == 3)
        let open = try await Self.send(Self.get(), setup: Self.setup())
        #expect(open[0].body == "Ping,Pong")
        #expect(open[0].field("etag") == keyed[1].field("etag"))
    }

    @Test("needs a valid key if there are keys, and does not count against the limits of the key")
    func keys() async throws {
        var expired = KeyedExchange.key("old")
        expired.values[0].expires = KeyedExchange.start
        let limited = KeyedExchange.key(limits: WriteKey.Limits(eventsPerDay: 1))
        let post = Requests.post(fields: "Authorization: Bearer web-key\r\n")
        let responses = try await Self.send(
            Self.get(),
            Self.get("unknown"),
            Self.get("old-key"),
            post,
            post,
            Self.get("web-key"),
            setup: Self.setup(keys: [limited, expired])
        )
        #expect(responses.map(\.status) == [401, 401, 401, 200, 429, 200])
        #expect(responses[0].body.hasPrefix(#"{"error":{"code":"unauthorized""#))
        #expect(responses[0].field("www-authenticate") == "bearer")
    }

    @Test("allows GET and HEAD, and is an unknown path if the server has no schema")
    func methods() async throws {
        let responses = try await Self.send(
            Self.get(),
            Self.get(method: "HEAD"),
            Requests.plain("POST", Self.path, fields: "Content-Length: 0\r\n"),
            Self.get(),
            setup: Self.setup()
        )
        #expect(responses.map(\.status) == [200, 200, 405, 200])
        #expect(responses[1].field("etag") == responses[0].field("etag"))
        #expect(responses[1].field("content-length") == "9")
        #expect(responses[2].field("allow") == "get, head")
        let missing = try await Self.send(Self.get(), setup: Self.setup(nil))
        #expect(missing[0].status == 404)
    }

    @Test("a web page may read it if it may send with the key, and asks with If-None-Match after a preflight")
    func origins() async throws {
        let keys = [
            KeyedExchange.key(origins: ["https://shop.example"]),
            KeyedExchange.key("app", origins: ["https://app.example"]),
        ]
        let shop = "Origin: https://shop.example\r\n"
        let responses = try await Self.send(
            Self.get("web-key", fields: shop),
            Self.get("app-key", fields: shop),
            Self.get("web-key", fields: "Origin: https://evil.test\r\n"),
            Self.get(fields: shop + "Access-Control-Request-Method: GET\r\n", method: "OPTIONS"),
            setup: Self.setup(keys: keys)
        )
        #expect(responses.map(\.status) == [200, 403, 403, 204])
        #expect(responses[0].field("access-control-allow-origin") == "https://shop.example")
        #expect(responses[0].field("access-control-expose-headers")?.contains("etag") == true)
        #expect(responses[0].field("vary") == "origin")
        #expect(responses[3].field("access-control-allow-headers")?.contains("if-none-match") == true)
    }

    @Test("a sender that has the document gets 304 without a body, and the connection goes on")
    func notModified() async throws {
        let first = try await Self.send(Self.get(), setup: Self.setup())
        let tag = try #require(first[0].field("etag"))
        for (fields, status) in [
            ("If-None-Match: \(tag)\r\n", 304), ("If-None-Match: W/\(tag)\r\n", 304), ("If-None-Match: *\r\n", 304),
            ("if-none-match: \"x\", \(tag) , \"y\"\r\n", 304),
            ("If-None-Match: \"x\"\r\nIf-None-Match: \(tag)\r\n", 304),
            ("If-None-Match: \"x\"\r\n", 200), ("If-None-Match: \(tag.dropLast())\r\n", 200),
            ("If-None-Match:\r\n", 200),
        ] {
            let responses = try await Self.send(Self.get(fields: fields), Self.get(), setup: Self.setup())
            #expect(responses.map(\.status) == [status, 200], "\(fields)")
            #expect(responses[0].field("etag") == tag)
            #expect(responses[0].field("cache-control") == "private, no-cache")
            #expect((responses[0].field("content-length") == nil) == (status == 304))
            #expect(responses[0].body.isEmpty == (status == 304))
        }
    }

    @Test("changes with the keys while the server runs", .promise("plan-requests"))
    func changedKeys() async throws {
        try await TestServer.run(Self.setup(keys: [KeyedExchange.key(events: ["Ping"])])) { server in
            try await RawClient.with(server.address) { client async throws in
                #expect(try await client.exchange(Self.get("web-key")).body == "Ping")
                try server.keys.replace(with: [KeyedExchange.key(events: ["Pong"])])
                #expect(try await client.exchange(Self.get("web-key")).body == "Pong")
                try server.keys.replace(with: [])
                #expect(try await client.exchange(Self.get("web-key")).status == 401)
            }
        }
    }

    @Test("is the same over HTTP/2")
    func http2() async throws {
        let folder = try TestFolder()
        let certificate = try await TestCertificate("server", in: folder)
        // Longer than the flow control of HTTP/2 lets a sender have at once.
        let text = String(repeating: "x", count: 1 << 20)
        var setup = Self.setup { _ in text }
        setup.tls = certificate.paths
        try await TestServer.run(setup) { server async throws in
            for option in ["--http2", "--http1.1"] {
                let arguments = [
                    "-s", option, "--cacert", certificate.certificate, "https://\(server.address)/v1/plan",
                ]
                let full = try await Command.run("curl", arguments)
                #expect(full.text == text)
                let head = try await Command.run("curl", ["-I"] + arguments).text
                let tag = try #require(head.firstMatch(of: /etag: (".*")/)).1
                let known = try await Command.run(
                    "curl",
                    arguments + ["-w", "%{http_code}", "-H", "If-None-Match: \(tag)"]
                )
                #expect(known.text == "304")
            }
        }
    }

    // MARK: Rendering

    @Test("is the new one as soon as the plan was replaced, and so are the events that a key may send")
    func replacement() async throws {
        let keys = [KeyedExchange.key(events: ["Ping", "Later"])]
        try await TestServer.run(Self.setup(keys: keys)) { server in
            try await RawClient.with(server.address) { client in
                #expect(try await client.exchange(Self.get("web-key")).body == "Ping")
                let later = KeyedExchange.Request(path: "/v1/events?key=web-key", body: #"{"name":"Later"}"#).text
                #expect(try await client.exchange(later).status == 422)
                var plan = KeyedExchange.plan
                var definition = plan.events[0]
                (definition.key, definition.name) = ("Later", "Later")
                plan.events.append(definition)
                let catalog = EventCatalog(plan: plan)
                try server.pipeline.replacePlan(with: catalog)
                await server.http.replacePlan(with: catalog)
                let accepted = try await client.exchange(later)
                #expect(accepted.status == 200, "\(accepted.body)")
                #expect(try await client.exchange(Self.get("web-key")).body == "Ping,Later")
            }
        }
    }

    @Test("can be replaced once the server has ended, without waiting for its event loops")
    func replacementAfterEnd() async throws {
        let ended = try await TestServer.run(Self.setup()) { server in
            try await RawClient.with(server.address) { client async throws in
                #expect(try await client.exchange(Self.get()).status == 200)
            }
            return server
        }
        await ended.http.replacePlan(with: EventCatalog(plan: KeyedExchange.plan))
    }

    @Test("is rendered once for all senders that wait for it, and holds up no other request", .promise("plan-requests"))
    func rendering() async throws {
        let (gate, renderings) = (Gate(isClosed: true), Watched(0))
        var setup = Self.setup { plan in
            renderings.update { $0 += 1 }
            gate.pass()
            return plan.events.map(\.name).joined()
        }
        setup.http.eventLoopCount = 1
        try await gate.openAfter {
            try await TestServer.run(setup) { server in
                let waiting = try await [RawClient(to: server.address), RawClient(to: server.address)]
                for client in waiting { try await client.send(Self.get() + Requests.post()) }
                await gate.waitForSomebody()
                try await RawClient.with(server.address) { client async throws in
                    #expect(try await client.exchange(Requests.post()).status == 200)
                }
                gate.open()
                for client in waiting {
                    #expect(try await client.response().body == "PingPong")
                    #expect(try await client.response().body == Requests.accepted)
                    client.close()
                }
            }
        }
        #expect(renderings.value == 1)
    }

    @Test("requests behind one that waits for a long document are answered")
    func longDocument() async throws {
        let document = String(repeating: "x", count: 1 << 20)
        try await TestServer.run(Self.setup { _ in document }) { server in
            try await RawClient.with(server.address) { client async throws in
                for _ in 0..<2 {
                    try await client.send(Self.get() + Requests.post())
                    #expect(try await client.response().body == document)
                    #expect(try await client.response().body == Requests.accepted)
                }
            }
        }
    }

    @Test("a sender that leaves while it waits takes nothing with it")
    func leaver() async throws {
        let (gate, renderings) = (Gate(isClosed: true), Watched(0))
        let setup = Self.setup { plan in
            renderings.update { $0 += 1 }
            gate.pass()
            return plan.events.map(\.name).joined()
        }
        try await gate.openAfter {
            try await TestServer.run(setup) { server in
                let leaver = try await RawClient(to: server.address)
                try await leaver.send(Self.get())
                await gate.waitForSomebody()
                try await leaver.reset()
                gate.open()
                try await RawClient.with(server.address) { client async throws in
                    #expect(try await client.exchange(Self.get()).body == "PingPong")
                }
            }
        }
    }

    @Test("a sender waits for a slow rendering until the deadline, gets 503, and later the document")
    func slowRendering() async throws {
        let gate = Gate(isClosed: true)
        var setup = Self.setup { plan in
            gate.pass()
            return plan.events.map(\.name).joined()
        }
        setup.http.timeouts.check = .milliseconds(50)
        try await gate.openAfter {
            try await TestServer.run(setup) { server in
                try await RawClient.with(server.address) { client async throws in
                    let refused = try await client.exchange(Self.get())
                    #expect(refused.status == 503)
                    #expect(refused.body.hasPrefix(#"{"error":{"code":"overloaded""#))
                    #expect(refused.field("retry-after") == "1")
                    gate.open()
                    while try await client.exchange(Self.get()).status != 200 { try Task.checkCancellation() }
                }
            }
        }
    }

    // MARK: Limits

    @Test("a document beyond the limit is answered with 500, and not sent")
    func tooLarge() async throws {
        var setup = Self.setup(keys: [KeyedExchange.key(), KeyedExchange.key("small", events: ["Ping"])])
        setup.http.maximumPlanBytes = 8
        let responses = try await Self.send(Self.get("web-key"), Self.get("small-key"), setup: setup)
        #expect(responses.map(\.status) == [500, 200])
        #expect(responses[0].body.hasPrefix(#"{"error":{"code":"plan-too-large""#))
    }

    @Test("documents that senders do not read take a quarter of the memory, and are 503 beyond it")
    func unread() async throws {
        let document = String(repeating: "x", count: 8 << 20)
        var setup = Self.setup { _ in document }
        setup.http.maximumBufferedBytes = 80 << 20
        try await TestServer.run(setup) { server in
            // A response that nobody reads fills the buffers of the kernel, and the rest of it waits in the server.
            let readers = try await [
                RawClient(to: server.address, readsByItself: false),
                RawClient(to: server.address, readsByItself: false),
            ]
            for (index, reader) in readers.enumerated() {
                try await reader.send(Self.get())
                while server.http.reservedBytes < (index + 1) * document.utf8.count { try Task.checkCancellation() }
            }
            try await RawClient.with(server.address) { client async throws in
                let refused = try await client.exchange(Self.get())
                #expect(refused.status == 503)
                #expect(refused.body.hasPrefix(#"{"error":{"code":"overloaded""#))
                #expect(try await client.exchange(Self.get(method: "HEAD"), hasBody: false).status == 200)
                #expect(try await client.exchange(Requests.post()).status == 200)
                for reader in readers { reader.close() }
                while try await client.exchange(Self.get()).status != 200 { try Task.checkCancellation() }
            }
            while server.http.reservedBytes > 0 { try Task.checkCancellation() }
        }
    }
}
