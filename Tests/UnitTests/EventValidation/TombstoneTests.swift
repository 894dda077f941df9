import EventModel
import EventValidation
import TestPromises
import Testing

@Suite("Tombstones of erased people")
struct TombstoneTests {
    /// HMAC-SHA-256 of `sluice tombstone user`, NUL and `ada "x"`, computed by Python's `hmac`.
    private static let userHash = "a7971d5a9453d4d9c89ef4a9708dd327368e335a1545d1a3e3e3796a49237ba7"
    /// The same of `sluice tombstone anonymous`, NUL and `d1`.
    private static let deviceHash = "062371b0ca60823be089ea2d57b084f465bbc74dc7631048b3769a9d42a1d4ea"

    private let key: HashKey
    private let tombstones: Tombstones

    init() throws {
        key = try #require(HashKey(Array("0123456789abcdef0123456789abcdef".utf8)))
        let request = try #require(Timestamp("2026-11-05T12:00:00Z"))
        tombstones = Tombstones(
            [
                Tombstone(of: #"ada "x""#, .user, requestedAt: request, key: key),
                Tombstone(of: "d1", .anonymous, requestedAt: request, key: key),
            ],
            key: key
        )
    }

    private func covers(_ identifiers: String, receivedAt: String = "2026-11-05T11:59:59.999999Z") -> Bool {
        let start = #"{"id":"01932c4e-0000-7000-8000-000000000000","name":"Seen","time":"2030-01-01T00:00:00Z","#
        let line = Array("\(start)\"receivedAt\":\"\(receivedAt)\"\(identifiers),\"payload\":{}}".utf8)
        return line.withUnsafeBytes { tombstones.covers($0) }
    }

    @Test("the hash is the HMAC of what it is of and the identifier")
    func hashes() {
        #expect(key.tombstoneHash(of: #"ada "x""#, .user).text == Self.userHash)
        #expect(key.tombstoneHash(of: "d1", .anonymous).text == Self.deviceHash)
        #expect(key.tombstoneHash(of: "d1", .user).text != Self.deviceHash)
    }

    @Test(
        "an event is covered if it was received before the request, whatever time it states",
        .promise("erased-person")
    )
    func time() {
        #expect(covers(#","userId":"ada \"x\"""#))
        #expect(covers(#","userId":"ada \u0022x\u0022","anonymousId":"d9""#))
        #expect(!covers(#","userId":"ada \"x\"""#, receivedAt: "2026-11-05T12:00:00Z"))
        #expect(!covers(#","userId":"ada \"x\"""#, receivedAt: "2026-11-06T00:00:00Z"))
        #expect(!covers(#","userId":"ada""#))
        #expect(!covers(""))
    }

    @Test("an anonymous id decides only for an event without a user")
    func devices() {
        #expect(covers(#","anonymousId":"d1""#))
        #expect(!covers(#","userId":"bob","anonymousId":"d1""#))
        #expect(!covers(#","anonymousId":"d2""#))
        #expect(!covers(#","userId":"d1""#))
    }

    @Test("of several requests for one person, the latest counts, and bytes that are no event are not covered")
    func latest() throws {
        let times = try ["2026-11-07T00:00:00Z", "2026-11-05T00:00:00Z"].map { try #require(Timestamp($0)) }
        let both = Tombstones(times.map { Tombstone(of: "ada", .user, requestedAt: $0, key: key) }, key: key)
        #expect(both.request(for: "ada", .user)?.microseconds == times[0].microseconds)
        #expect(both.request(for: "ada", .anonymous) == nil)
        #expect(!Array("{}".utf8).withUnsafeBytes { both.covers($0) })
        #expect(Tombstones().isEmpty && Tombstones([], key: key).isEmpty && !both.isEmpty)
    }

    @Test("a key has a fingerprint of its own, which is not the hash of an identifier")
    func fingerprint() throws {
        let other = try #require(HashKey(Array("0123456789abcdef0123456789abcdeg".utf8)))
        #expect(key.fingerprint != other.fingerprint)
        #expect(key.fingerprint.count == 64)
    }
}
