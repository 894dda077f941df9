import EventModel
import EventValidation
import Foundation
import ServerTestSupport
import SluiceHTTP
import SluiceTesting
import SluiceWebhook
import TestPromises
import TestSupport
import Testing
import TrackerKit

@Suite("A webhook", .timeLimit(.minutes(5)))
struct WebhookTrackerTests {
    private static let catalog = EventCatalog.scripted(["Song Played": ["webhook"]])

    private static func delivery(_ count: Int, from first: Int = 0, user: ((Int) -> String)? = nil) -> Delivery {
        let events = (first..<first + count).map { number in
            var event = ScriptedEvent("Song Played", number: number, payload: #"{"number":\#(number)}"#)
            event.userID = user?(number)
            return event
        }
        return Delivery([EventSlice(EventBatch.scripted(catalog: catalog, events: events))])
    }

    private static func tracker(
        of receiver: WebhookReceiver,
        clock: some Clock<Duration> = ContinuousClock(),
        _ change: (inout WebhookConfiguration) -> Void = { _ in }
    ) -> WebhookTracker {
        var configuration = WebhookConfiguration(url: "\(receiver.url)/events?kind=all")
        change(&configuration)
        return WebhookTracker(configuration, clock: clock) { Timestamp(microseconds: 1_700_000_000_000_000) }
    }

    /// The numbers of the events in a request with one in each line.
    private static func numbers(_ requests: [WebhookReceiver.Request]) -> [Int] {
        requests.flatMap { $0.body.matches(of: /"number":(\d+)/).compactMap { Int($0.1) } }
    }

    @Test(
        "sends the events in each form",
        arguments: WebhookConfiguration.Format.allCases,
        HTTPReceiver.Compression.allCases
    )
    func forms(format: WebhookConfiguration.Format, compression: HTTPReceiver.Compression) async throws {
        let receiver = try await WebhookReceiver()
        let tracker = Self.tracker(of: receiver) {
            $0.format = format
            $0.method = .put
            $0.source = "shop \"1\""
            $0.receiver.compression = compression
            $0.receiver.headers = ["X-Team: a: b"]
        }
        try await tracker.start(for: Self.catalog)
        let delivery = Self.delivery(2)
        let lines = delivery.map(\.json)
        let outcome = await tracker.deliver(delivery)
        #expect(outcome.retry?.reason.debugDescription == nil)
        #expect(outcome.refusals.isEmpty)
        await tracker.stop()
        let requests = try receiver.requests
        let event = { (line: String, number: Int) in
            #"{"specversion":"1.0","id":"00000000-0000-0000-0000-00000000000\#(number)","source":"shop \"1\"","type":"Song Played","#
                + #""time":"2023-11-14T22:13:20Z","datacontenttype":"application/json","data":\#(line)}"#
        }
        let expected: (bodies: [String], type: String) =
            switch format {
            case .ndjson: (["\(lines[0])\n\(lines[1])\n"], "application/x-ndjson")
            case .json: (["[\(lines[0]),\(lines[1])]"], "application/json")
            case .single: (lines, "application/json")
            case .cloudevents:
                (["[\(event(lines[0], 0)),\(event(lines[1], 1))]"], "application/cloudevents-batch+json")
            }
        #expect(requests.map(\.body) == expected.bodies)
        for request in requests {
            #expect(request.method == "PUT")
            #expect(request.path == "/events?kind=all")
            #expect(request.headers["content-type"] == expected.type)
            #expect(request.headers["content-encoding"] == (compression == .gzip ? "gzip" : nil))
            #expect(request.headers["x-team"] == "a: b")
            #expect(request.headers["webhook-timestamp"] == "1700000000")
            #expect(request.headers["webhook-id"]?.wholeMatch(of: /msg_[0-9a-f]{32}/) != nil)
            #expect(request.headers["webhook-signature"] == nil)
            #expect(request.headers["authorization"] == nil)
        }
    }

    @Test("a repetition has the same webhook-id, and other events have another")
    func identity() async throws {
        let receiver = try await WebhookReceiver()
        try receiver.setMode("once 503")
        let tracker = Self.tracker(of: receiver) { $0.receiver.compression = .gzip }
        try await tracker.start(for: Self.catalog)
        #expect(await tracker.deliver(Self.delivery(3)).retry?.reason.code == .unavailable)
        #expect(await tracker.deliver(Self.delivery(3)).retry == nil)
        #expect(await tracker.deliver(Self.delivery(3, from: 1)).retry == nil)
        for count in [2, 4] { #expect(await tracker.deliver(Self.delivery(count)).retry == nil) }
        await tracker.stop()
        // The same events in another form, and those of another tracker.
        for edit: (inout WebhookConfiguration) -> Void in [{ $0.format = .json }, { $0.name = "second" }] {
            let other = Self.tracker(of: receiver, edit)
            try await other.start(for: Self.catalog)
            #expect(await other.deliver(Self.delivery(3)).retry == nil)
            await other.stop()
        }
        let ids = try receiver.requests.map { $0.headers["webhook-id"] }
        try #require(ids.count == 7)
        #expect(ids[0] == ids[1])
        #expect(Set(ids).count == 6)
    }

    @Test("credentials come from files, which are read for each delivery")
    func credentials() async throws {
        let receiver = try await WebhookReceiver()
        let folder = try TestFolder()
        let token = try folder.write("one\n", to: "token")
        let login = try folder.write("user:pass:word", to: "login")
        let bearer = Self.tracker(of: receiver) { $0.receiver.bearerTokenFile = token }
        let basic = Self.tracker(of: receiver) { $0.receiver.basicAuthFile = login }
        let other = Self.tracker(of: receiver) {
            $0.receiver.headerFiles = ["Authorization=\(token)", "X-Key=\(login)"]
        }
        for tracker in [bearer, basic, other] { try await tracker.start(for: Self.catalog) }
        try folder.write("two\r\n", to: "token")
        for tracker in [bearer, basic, other] {
            #expect(await tracker.deliver(Self.delivery(1)).retry == nil)
        }
        try folder.write("a\nb", to: "token")
        let malformed = await bearer.deliver(Self.delivery(1)).retry?.reason
        #expect(malformed?.code == .notPrepared)
        try FileManager.default.removeItem(atPath: token)
        let missing = await bearer.deliver(Self.delivery(1)).retry?.reason
        #expect(missing?.code == .notPrepared && missing?.message.contains(token) == true)
        await #expect(throws: TrackerError.self) { try await other.start(for: Self.catalog) }
        for tracker in [bearer, basic, other] { await tracker.stop() }
        let headers = try receiver.requests.map(\.headers)
        #expect(headers.map { $0["authorization"] } == ["Bearer two", "Basic dXNlcjpwYXNzOndvcmQ=", "two"])
        #expect(headers.map { $0["x-key"] } == [nil, nil, "user:pass:word"])
    }

    @Test(
        "a signing key that is not one of Standard Webhooks is reported",
        arguments: ["", "whsec_", "whsec_YWJj", "x y"]
    )
    func signingKey(text: String) async throws {
        let receiver = try await WebhookReceiver()
        let file = try TestFolder()
        let key = try file.write(text, to: "key")
        let tracker = Self.tracker(of: receiver) { $0.signingKeyFile = key }
        await #expect(throws: TrackerError.self) { try await tracker.start(for: Self.catalog) }
        await tracker.stop()
    }

    @Test("events that the receiver refuses are refused with its words, and only these", arguments: [400, 409, 422])
    func refusals(status: Int) async throws {
        let receiver = try await WebhookReceiver()
        try receiver.setMode("refuse \(status) \"number\":17}")
        let tracker = Self.tracker(of: receiver)
        try await tracker.start(for: Self.catalog)
        let outcome = await tracker.deliver(Self.delivery(40))
        await tracker.stop()
        #expect(outcome.retry == nil)
        #expect(outcome.refusals == [.init(position: 17, reason: #"status \#(status): the event has "number":17}"#)])
        #expect(Self.numbers(try receiver.requests) == (0..<40).filter { $0 != 17 })
    }

    @Test("requests that are too large become smaller, and stay so")
    func tooLarge() async throws {
        let receiver = try await WebhookReceiver()
        let bytes = Self.delivery(100).byteCount
        try receiver.setMode("limit \(bytes / 10)")
        let tracker = Self.tracker(of: receiver)
        try await tracker.start(for: Self.catalog)
        #expect(await tracker.deliver(Self.delivery(100)).retry == nil)
        #expect(Self.numbers(try receiver.requests) == Array(0..<100))
        let first = try receiver.requests.count
        #expect(await tracker.deliver(Self.delivery(100)).retry == nil)
        await tracker.stop()
        let second = try receiver.requests.dropFirst(first)
        #expect(Self.numbers(Array(second)) == Array(0..<100))
        #expect(second.allSatisfy { $0.body.utf8.count <= bytes / 10 })
    }

    @Test("four requests are in progress at a time, the events of each user are in order, and none is missing")
    func concurrency() async throws {
        let receiver = try await WebhookReceiver()
        // With fewer, none would be answered.
        try receiver.setMode("together 4")
        let tracker = Self.tracker(of: receiver) {
            $0.receiver.concurrency = 4
            $0.format = .single
        }
        try await tracker.start(for: Self.catalog)
        #expect(await tracker.deliver(Self.delivery(200) { "user-\($0 % 7)" }).retry == nil)
        await tracker.stop()
        let numbers = Self.numbers(try receiver.requests)
        #expect(numbers.sorted() == Array(0..<200))
        for user in 0..<7 {
            let own = numbers.filter { $0 % 7 == user }
            #expect(own == own.sorted())
        }
    }

    @Test("a failure of one of several requests retries only its events")
    func partialFailure() async throws {
        let receiver = try await WebhookReceiver()
        try receiver.setMode("refuse 503 \"number\":17}")
        let tracker = Self.tracker(of: receiver) { $0.receiver.concurrency = 4 }
        try await tracker.start(for: Self.catalog)
        let outcome = await tracker.deliver(Self.delivery(40) { "user-\($0)" })
        await tracker.stop()
        let retried = outcome.retry?.positions ?? []
        #expect(outcome.refusals.isEmpty && retried.contains(17) && retried.count < 40)
        #expect((Self.numbers(try receiver.requests) + retried).sorted() == Array(0..<40))
    }

    @Test(
        "requests without an answer are retried",
        arguments: [
            ("close", TrackerError.Code.unavailable, "The receiver closed the connection before it had answered."),
            ("hang", .timeout, "The receiver did not answer in time."),
        ]
    )
    func noAnswer(mode: String, code: TrackerError.Code, message: String) async throws {
        let receiver = try await WebhookReceiver()
        try receiver.setMode(mode)
        let clock = ManualClock()
        let tracker = Self.tracker(of: receiver, clock: clock)
        try await tracker.start(for: Self.catalog)
        async let outcome = tracker.deliver(Self.delivery(1))
        if mode == "hang" {
            await clock.waitForSleepers(1)
            #expect(clock.sleepers == [.seconds(30)])
            clock.advance(by: .seconds(30))
        }
        let reason = await outcome.retry?.reason
        #expect(reason?.code == code)
        #expect(reason?.message == message)
        try receiver.setMode("ok")
        #expect(await tracker.deliver(Self.delivery(1)).retry == nil)
        await tracker.stop()
    }

    @Test("of an answer without an end, or with a slow one, the status counts", arguments: ["drip", "stall"])
    func endless(mode: String) async throws {
        let receiver = try await WebhookReceiver()
        try receiver.setMode(mode)
        let clock = ManualClock()
        let tracker = Self.tracker(of: receiver, clock: clock)
        try await tracker.start(for: Self.catalog)
        async let outcome = tracker.deliver(Self.delivery(1))
        if mode == "stall" {
            await clock.waitForSleeper(for: .seconds(1))
            clock.advance(by: .seconds(1))
        }
        #expect(await outcome.retry == nil)
        await tracker.stop()
    }

    @Test("stops at once, although a connection is being opened")
    func stopWhileConnecting() async throws {
        // Nothing answers there (RFC 5737), so that the connection is opened until its time limit; or the system refuses it.
        let tracker = WebhookTracker(WebhookConfiguration(url: "http://192.0.2.1/"))
        try await tracker.start(for: Self.catalog)
        let delivery = Task { await tracker.deliver(Self.delivery(1)) }
        delivery.cancel()
        #expect(await delivery.value.retry != nil)
        await tracker.stop()
    }

    @Test("a pause that the receiver asks for ends the other requests of a delivery")
    func pauseWithinDelivery() async throws {
        let receiver = try await WebhookReceiver()
        try receiver.setMode("status 503 Retry-After: 60")
        let tracker = Self.tracker(of: receiver, clock: ManualClock()) {
            $0.format = .single
            $0.receiver.concurrency = 4
        }
        try await tracker.start(for: Self.catalog)
        let retry = await tracker.deliver(Self.delivery(40) { "user-\($0)" }).retry
        #expect(retry?.positions == Array(0..<40))
        #expect(retry?.reason.message == "The receiver answered with status 503.")
        await tracker.stop()
    }

    @Test("wants fewer events at a time if each has a request of its own")
    func deliveryLimits() {
        var configuration = WebhookConfiguration(url: "http://a")
        #expect(WebhookTracker(configuration).deliveryLimits == nil)
        configuration.format = .single
        configuration.receiver.concurrency = 3
        #expect(WebhookTracker(configuration).deliveryLimits?.maximumEvents == 300)
    }

    @Test("a receiver that is down is an outage, and the events arrive when it is up again")
    func down() async throws {
        let receiver = try await WebhookReceiver()
        let tracker = Self.tracker(of: receiver)
        try await tracker.start(for: Self.catalog)
        #expect(await tracker.deliver(Self.delivery(1)).retry == nil)
        receiver.stop()
        for _ in 0..<2 { #expect(await tracker.deliver(Self.delivery(1)).retry?.reason.code == .unavailable) }
        try await receiver.restart()
        #expect(await tracker.deliver(Self.delivery(1)).retry == nil)
        await tracker.stop()
    }

    @Test("a host that does not exist is an outage")
    func unknownHost() async throws {
        let tracker = WebhookTracker(WebhookConfiguration(url: "http://receiver.invalid/"))
        try await tracker.start(for: Self.catalog)
        let reason = await tracker.deliver(Self.delivery(1)).retry?.reason
        #expect(reason?.code == .unavailable)
        #expect(reason?.message == "The name of the receiver's host cannot be resolved.")
        await tracker.stop()
    }

    @Test("the pause that the receiver asks for is kept")
    func pause() async throws {
        let receiver = try await WebhookReceiver()
        try receiver.setMode("status 429 Retry-After: 7")
        let clock = ManualClock()
        let tracker = Self.tracker(of: receiver, clock: clock)
        try await tracker.start(for: Self.catalog)
        #expect(await tracker.deliver(Self.delivery(1)).retry?.reason.code == .unavailable)
        try receiver.setMode("ok")
        async let outcome = tracker.deliver(Self.delivery(1))
        await clock.waitForSleepers(1)
        #expect(clock.sleepers == [.seconds(7)])
        #expect(try receiver.requests.isEmpty)
        clock.advance(by: .seconds(7))
        #expect(await outcome.retry == nil)
        #expect(try receiver.requests.count == 1)
        await tracker.stop()
    }

    @Test("a redirect is not followed, and somebody has to act")
    func redirect() async throws {
        let (receiver, other) = (try await WebhookReceiver(), try await WebhookReceiver())
        try receiver.setMode("status 307 Location: \(other.url)/")
        let tracker = Self.tracker(of: receiver)
        try await tracker.start(for: Self.catalog)
        let reason = await tracker.deliver(Self.delivery(1)).retry?.reason
        #expect(reason?.code == .misconfigured && reason?.isRetryable == false)
        #expect(try other.requests.isEmpty)
        await tracker.stop()
    }

    @Test("the check says whether the receiver can be reached")
    func check() async throws {
        let receiver = try await WebhookReceiver()
        let outline = PipelineOutline(catalog: Self.catalog, hasJournal: true)
        let tracker = Self.tracker(of: receiver)
        #expect(await tracker.problems(in: outline).isEmpty)
        receiver.stop()
        #expect(await tracker.problems(in: outline).map(\.code) == [.unavailable])
        #expect(try receiver.requests.isEmpty)
        await tracker.stop()
    }

    @Test("with TLS, the server's certificate is verified, and the client can have one")
    func tls() async throws {
        let folder = try TestFolder()
        let server = try await TestCertificate("server", in: folder)
        let client = try await TestCertificate("client", in: folder)
        let receiver = try await WebhookReceiver(
            tls: .init(
                certificate: server.certificate,
                privateKey: server.privateKey,
                clientAuthority: client.certificate
            )
        )
        let trusting = Self.tracker(of: receiver) {
            $0.receiver.caFile = server.certificate
            $0.receiver.certificateFile = client.certificate
            $0.receiver.keyFile = client.privateKey
        }
        try await trusting.start(for: Self.catalog)
        let outcome = await trusting.deliver(Self.delivery(1))
        #expect(outcome.retry == nil, "\(String(describing: outcome.retry?.reason))")
        let distrusting = Self.tracker(of: receiver)
        try await distrusting.start(for: Self.catalog)
        #expect(await distrusting.deliver(Self.delivery(1)).retry?.reason.code == .misconfigured)
        let anonymous = Self.tracker(of: receiver) { $0.receiver.caFile = server.certificate }
        try await anonymous.start(for: Self.catalog)
        let refused = await anonymous.deliver(Self.delivery(1)).retry?.reason
        #expect(refused?.code == .misconfigured, "\(String(describing: refused))")
        for tracker in [trusting, distrusting, anonymous] { await tracker.stop() }
        for (authority, key) in [(folder.path("none"), client.privateKey), (server.certificate, server.privateKey)] {
            let tracker = Self.tracker(of: receiver) {
                $0.receiver.caFile = authority
                $0.receiver.certificateFile = client.certificate
                $0.receiver.keyFile = key
            }
            let error = await #expect(throws: TrackerError.self) { try await tracker.start(for: Self.catalog) }
            #expect(error?.code == .notPrepared)
            await tracker.stop()
        }
        #expect(try receiver.requests.count == 1)
    }

    @Test("certificates that are replaced are used for the next delivery", .promise("replaced-secrets"))
    func replacedCertificates() async throws {
        let folder = try TestFolder()
        let server = try await TestCertificate("server", in: folder)
        let other = try await TestCertificate("other", in: folder)
        let receiver = try await WebhookReceiver(
            tls: .init(
                certificate: server.certificate,
                privateKey: server.privateKey,
                clientAuthority: other.certificate
            )
        )
        let files = ["ca", "client.pem", "client.key"].map { folder.path($0) }
        func use(_ authority: TestCertificate, _ client: TestCertificate) throws {
            for (path, file) in zip([authority.certificate, client.certificate, client.privateKey], files) {
                let content = try #require(FileManager.default.contents(atPath: path))
                try content.write(to: URL(filePath: file))
            }
        }
        try use(server, other)
        let tracker = Self.tracker(of: receiver) {
            ($0.receiver.caFile, $0.receiver.certificateFile, $0.receiver.keyFile) = (files[0], files[1], files[2])
        }
        try await tracker.start(for: Self.catalog)
        #expect(await tracker.deliver(Self.delivery(1)).retry == nil)
        // Its certificate is not trusted any more, and later this side's is the wrong one; the open connection is not used.
        try use(other, other)
        #expect(await tracker.deliver(Self.delivery(1, from: 1)).retry?.reason.code == .misconfigured)
        try use(server, server)
        #expect(await tracker.deliver(Self.delivery(1, from: 1)).retry?.reason.code == .misconfigured)
        try FileManager.default.removeItem(atPath: files[0])
        #expect(await tracker.deliver(Self.delivery(1, from: 1)).retry?.reason.code == .notPrepared)
        try use(server, other)
        #expect(await tracker.deliver(Self.delivery(1, from: 1)).retry == nil)
        await tracker.stop()
        #expect(Self.numbers(try receiver.requests) == [0, 1])
    }

    @Test("after a request without an answer, the next one uses another connection")
    func silentConnection() async throws {
        let folder = try TestFolder()
        let certificate = try await TestCertificate("server", in: folder)
        try await TestServer.run(TestServer.Setup(tls: certificate.paths)) { server in
            let proxy = try SilentProxy(to: server.address.port)
            var configuration = WebhookConfiguration(url: "https://127.0.0.1:\(proxy.port)/v1/events")
            configuration.receiver.caFile = certificate.certificate
            let clock = ManualClock()
            let tracker = WebhookTracker(configuration, clock: clock) { .now() }
            let catalog = EventCatalog.scripted(["Ping": ["webhook"]])
            try await tracker.start(for: catalog)
            let batch = EventBatch.scripted(catalog: catalog, events: [ScriptedEvent("Ping", number: 0)])
            #expect(await tracker.deliver(Delivery([EventSlice(batch)])).retry == nil)
            proxy.goSilent(afterBytes: 1)
            async let outcome = tracker.deliver(Delivery([EventSlice(batch)]))
            await proxy.waitForSilence()
            await clock.waitForSleeper(for: .seconds(30))
            clock.advance(by: .seconds(30))
            #expect(await outcome.retry?.reason.code == .timeout)
            #expect(await tracker.deliver(Delivery([EventSlice(batch)])).retry == nil)
            await tracker.stop()
            #expect(proxy.connectionCount == 2)
        }
    }

    @Test("meets the tracker contract", arguments: ["status 503", "hang", "close"])
    func contract(outage: String) async throws {
        let receiver = try await WebhookReceiver()
        try await TrackerContract(
            outage: .init(begin: { try receiver.setMode(outage) }, end: { try receiver.setMode("ok") }),
            makeTracker: { Self.tracker(of: receiver) { $0.receiver.requestTimeout = .seconds(60) } },
            delivered: {
                try receiver.requests.flatMap {
                    $0.body.matches(of: /\{"id":"([^"]*)"/).compactMap { EventID(String($0.1)) }
                }
            }
        ).verify()
    }
}
