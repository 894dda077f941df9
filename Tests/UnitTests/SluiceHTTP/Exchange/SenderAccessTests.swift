import EventModel
import EventValidation
import NIOCore
import NIOHTTP1
import PortDefinitions
import SluiceHTTP
import Testing

@Suite("What the sender of a request may do")
struct SenderAccessTests {
    private static let shop = "https://shop.example"
    private static let keys: [WriteKey] = [
        .named("app"), .named("web", events: ["A"], origins: [shop]),
        .named("old", expires: ExchangeHarness.Server.now), .named("daily", limits: .init(eventsPerDay: 1)),
    ]

    private static func peer(
        _ address: String? = "192.0.2.1",
        proxies: [NetworkRange] = [],
        key: ConnectionKey = ConnectionKey(limit: 10)
    ) throws -> Peer {
        let address = try address.map { try SocketAddress(ipAddress: $0, port: 1) }
        return Peer(ClientAddress(peer: address, proxies: proxies), isEncrypted: false, key: key)
    }

    private static func head(_ fields: HTTPHeaders = [:], uri: String = "/v1/events") -> RequestHead {
        var fields = fields
        fields.add(name: "host", value: "sluice")
        return RequestHead(HTTPRequestHead(version: .http1_1, method: .POST, uri: uri, headers: fields))
    }

    /// The code with which something is refused; `nil` if it is not.
    private static func refusal(_ body: () throws(Failure) -> Void) -> FailureCode? {
        do throws(Failure) {
            try body()
            return nil
        } catch {
            return error.code
        }
    }

    /// A sender, what its header leads to, and its access afterwards.
    private static func admit(
        _ fields: HTTPHeaders,
        uri: String = "/v1/events",
        mayHaveKeyInBody: Bool = false,
        from peer: Peer? = nil,
        in loop: LoopResources
    ) throws -> (access: SenderAccess, refusal: FailureCode?) {
        let (head, peer) = (head(fields, uri: uri), try peer ?? Self.peer())
        var access = SenderAccess(head, from: peer, in: loop)
        let refusal = refusal { () throws(Failure) in
            try access.admit(head, mayHaveKeyInBody: mayHaveKeyInBody, from: peer, in: loop)
        }
        return (access, refusal)
    }

    private static func address(_ text: String) throws -> NetworkRange.Address {
        try #require(NetworkRange.Address(SocketAddress(ipAddress: text, port: 0)))
    }

    // MARK: The key

    @Test("without keys anyone may send, and shares the time of the event loop with everyone")
    func open() throws {
        let loop = try ExchangeHarness.Server().loop
        for fields: HTTPHeaders in [[:], .key("anything")] {
            let (access, refusal) = try Self.admit(fields, mayHaveKeyInBody: true, in: loop)
            #expect(refusal == nil && access.grant == nil && access.key == nil && !access.isKeyInBody)
            #expect(access.sender == .anyone)
        }
    }

    @Test(
        "with keys, a header needs one that is known and has not expired",
        arguments: [
            ("Bearer app", nil), ("Bearer old", .unauthorized), ("Bearer other", .unauthorized),
            ("Bearer ", .unauthorized),
            ("Basic YXBwOg==", nil), (nil, .unauthorized),
        ] as [(String?, FailureCode?)]
    )
    func header(authorization: String?, expected: FailureCode?) throws {
        let loop = try ExchangeHarness.Server(keys: Self.keys).loop
        let fields: HTTPHeaders = authorization.map { ["authorization": $0] } ?? [:]
        let (access, refusal) = try Self.admit(fields, in: loop)
        #expect(refusal == expected)
        #expect(access.grant?.name == (expected == nil ? "app" : nil))
        #expect(access.key == (expected == nil ? Array("app".utf8) : nil))
        if let grant = access.grant { #expect(access.sender == .key(ObjectIdentifier(grant))) }
    }

    @Test("a key in the query string counts like one in the header, which takes precedence")
    func query() throws {
        let loop = try ExchangeHarness.Server(keys: Self.keys).loop
        #expect(try Self.admit([:], uri: "/v1/events?key=app", in: loop).access.grant?.name == "app")
        #expect(try Self.admit(.key("daily"), uri: "/v1/events?key=app", in: loop).access.grant?.name == "daily")
    }

    @Test("if the key may be in the body, the sender is known by its address until it is found")
    func body() throws {
        let loop = try ExchangeHarness.Server(keys: Self.keys).loop
        let peer = try Self.peer()
        var (access, refusal) = try Self.admit([:], mayHaveKeyInBody: true, from: peer, in: loop)
        #expect(refusal == nil && access.isKeyInBody && access.grant == nil)
        #expect(access.sender == .address(try Self.address("192.0.2.1")))
        for (key, expected): (String?, FailureCode?) in [(nil, .unauthorized), ("other", .unauthorized), ("app", nil)] {
            let key = key.map { Array($0.utf8) }
            let refusal = Self.refusal { () throws(Failure) in try access.admit(key: key, from: peer, in: loop) }
            #expect(refusal == expected)
            #expect(access.grant?.name == (expected == nil ? "app" : nil))
        }
        let grant = try #require(access.grant)
        #expect(access.sender == .key(ObjectIdentifier(grant)))
        // A key in the header is not looked for in the body.
        #expect(try !Self.admit(.key("app"), mayHaveKeyInBody: true, in: loop).access.isKeyInBody)
    }

    @Test("a sender whose address is unknown shares the time with all others of whom nothing is known")
    func unknownAddress() throws {
        let loop = try ExchangeHarness.Server(keys: Self.keys).loop
        let (access, refusal) = try Self.admit([:], mayHaveKeyInBody: true, from: Self.peer(nil), in: loop)
        #expect(refusal == nil && access.address == nil && access.sender == .anyone)
    }

    @Test("behind a proxy, the sender is the one that the proxy states")
    func proxy() throws {
        let loop = try ExchangeHarness.Server().loop
        let fields: HTTPHeaders = ["x-forwarded-for": "203.0.113.9"]
        let proxy = try #require(NetworkRange("192.0.2.0/24"))
        #expect(
            try Self.admit(fields, from: Self.peer(proxies: [proxy]), in: loop).access.address
                == Self.address("203.0.113.9")
        )
        #expect(try Self.admit(fields, from: Self.peer(), in: loop).access.address == Self.address("192.0.2.1"))
    }

    // MARK: The limits

    @Test("a key that has used up its events is refused by its header, but may still read")
    func usedUp() throws {
        let server = try ExchangeHarness.Server(keys: Self.keys)
        #expect(try ExchangeHarness(server).send(#"{"name":"A"}"#, .key("daily")) == "submit 1")
        let (access, refusal) = try Self.admit(.key("daily"), in: server.loop)
        #expect(refusal == .dailyVolumeExceeded && access.grant == nil)
        let read = Self.refusal { () throws(Failure) in
            _ = try access.admitReader(with: Array("daily".utf8), in: server.loop)
        }
        #expect(read == nil)
    }

    @Test("a connection counts for the key of its last request, and a key has a limit of them")
    func connections() throws {
        let loop = try ExchangeHarness.Server(keys: Self.keys).loop
        let (first, second) = (ConnectionKey(limit: 1), ConnectionKey(limit: 1))
        func refusal(_ key: String, on connection: ConnectionKey) throws -> FailureCode? {
            try Self.admit(.key(key), from: Self.peer(key: connection), in: loop).refusal
        }
        #expect(try refusal("app", on: first) == nil)
        #expect(try refusal("app", on: first) == nil)
        #expect(try refusal("app", on: second) == .tooManyConnectionsForKey)
        // An unknown key changes nothing.
        #expect(try refusal("other", on: first) == .unauthorized)
        #expect(try refusal("app", on: second) == .tooManyConnectionsForKey)
        #expect(try refusal("daily", on: first) == nil)
        #expect(try refusal("app", on: second) == nil)
        #expect(try refusal("app", on: first) == .tooManyConnectionsForKey)
    }

    // MARK: Web pages

    @Test("without keys, pages of this machine may send, or of every origin if the server is open to all")
    func originsWithoutKeys() throws {
        let local = try ExchangeHarness.Server().loop
        let (access, refusal) = try Self.admit(["origin": "http://localhost:3000"], in: local)
        #expect(refusal == nil && access.fields["access-control-allow-origin"] == ["http://localhost:3000"])
        #expect(access.fields["access-control-allow-credentials"].isEmpty)
        #expect(try Self.admit(["origin": Self.shop], in: local).refusal == .forbiddenOrigin)
        let open = try ExchangeHarness.Server { $0.isOpen = true }.loop
        #expect(try Self.admit(["origin": Self.shop], in: open).refusal == nil)
        // It would be repeated in the response.
        let long = "https://" + String(repeating: "x", count: 249)
        #expect(try Self.admit(["origin": long], in: open).refusal == .forbiddenOrigin)
        #expect(try Self.admit(["origin": String(long.dropLast())], in: open).refusal == nil)
    }

    @Test("with keys, a page needs a key with its origin; it may read the refusal if another key has it")
    func originsOfKeys() throws {
        let loop = try ExchangeHarness.Server(keys: Self.keys).loop
        func admit(_ key: String, from origin: String) throws -> (access: SenderAccess, refusal: FailureCode?) {
            var fields = HTTPHeaders.key(key)
            fields.add(name: "origin", value: origin)
            return try Self.admit(fields, in: loop)
        }
        let web = try admit("web", from: Self.shop)
        #expect(web.refusal == nil && web.access.fields["access-control-allow-credentials"] == ["true"])
        let app = try admit("app", from: Self.shop)
        #expect(app.refusal == .forbiddenOrigin && app.access.fields["access-control-allow-origin"] == [Self.shop])
        let other = try admit("web", from: "https://other.example")
        #expect(other.refusal == .forbiddenOrigin && other.access.fields.isEmpty)
    }

    @Test("a preflight request needs no key, but an origin with which some key may send")
    func preflight() throws {
        let loop = try ExchangeHarness.Server(keys: Self.keys).loop
        let origins: [(String?, FailureCode?)] = [
            (Self.shop, nil), ("https://other.example", .forbiddenOrigin), (nil, .forbiddenOrigin),
        ]
        for (origin, expected) in origins {
            var fields: HTTPHeaders = ["access-control-request-headers": "x-own, authorization"]
            if let origin { fields.add(name: "origin", value: origin) }
            let head = Self.head(fields)
            var access = SenderAccess(head, from: try Self.peer(), in: loop)
            var answer: Answer?
            let refusal = Self.refusal { () throws(Failure) in answer = try access.preflight(head) }
            #expect(refusal == expected)
            guard expected == nil else { continue }
            #expect(answer?.body == nil)
            #expect(answer?.fields["access-control-allow-headers"] == ["x-own,authorization"])
            #expect(access.fields["vary"] == ["origin, access-control-request-headers"])
        }
    }

    // MARK: Reading

    @Test("a reader may see the events that its key may send, from a page only with the origin of the key")
    func reader() throws {
        let loop = try ExchangeHarness.Server(keys: Self.keys).loop
        func read(_ key: String?, from origin: String? = nil) throws -> Result<[String]?, Failure> {
            let head = Self.head(origin.map { ["origin": $0] } ?? [:])
            let access = SenderAccess(head, from: try Self.peer(), in: loop)
            return Result { () throws(Failure) in
                try access.admitReader(with: key.map { Array($0.utf8) }, in: loop)?.names
            }
        }
        #expect(try read("app").get() == nil)
        #expect(try read("web").get() == ["A"])
        #expect(try read("web", from: Self.shop).get() == ["A"])
        #expect(try read("app", from: Self.shop).failureCode == .forbiddenOrigin)
        #expect(try read("old").failureCode == .unauthorized)
        #expect(try read(nil).failureCode == .unauthorized)
    }
}

extension Result where Failure == SluiceHTTP.Failure {
    fileprivate var failureCode: FailureCode? {
        if case .failure(let failure) = self { failure.code } else { nil }
    }
}
