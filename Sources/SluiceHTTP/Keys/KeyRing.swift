package import EventModel
import EventValidation
import Hashing

/// What a key allows, compiled for a plan.
package final class KeyGrant: Sendable {
    package let name: String
    /// The events that the key may send; `nil` for all.
    let events: EventSet?
    package let limiter: KeyLimiter
    private let origins: [OriginPattern]

    init(_ key: WriteKey, limiter: KeyLimiter, catalog: EventCatalog) {
        name = key.name
        events = key.events.map { EventSet(named: $0, in: catalog) }
        self.limiter = limiter
        origins = key.origins.compactMap(OriginPattern.init)
    }

    /// Whether web pages of this origin may send with the key.
    func allows(origin: String) -> Bool { origins.contains { $0.matches(origin) } }
}

/// The keys at one time, to be found by the texts that clients send.
package final class KeyRing: Sendable {
    /// A value of a key, found by its text.
    struct Match: Sendable {
        let grant: KeyGrant
        fileprivate let expires: Timestamp?

        func isExpired(now: Timestamp) -> Bool { expires.map { now.microseconds >= $0.microseconds } ?? false }
    }

    private struct Entry {
        let digest: [UInt8]
        let match: Match
    }

    /// The values, by the first bytes of their digests.
    private let entries: [UInt64: [Entry]]
    private let origins: [OriginPattern]
    /// The number of keys with a value that never expires.
    private let lastingKeyCount: Int
    /// When each of the other keys has no valid value any more.
    private let ends: [Timestamp]

    /// Compiles keys; a key keeps the limiter that it has under its name.
    init(_ keys: [WriteKey], limiters: [String: KeyLimiter], catalog: EventCatalog) {
        var entries: [UInt64: [Entry]] = [:]
        for key in keys {
            guard let limiter = limiters[key.name] else { continue }
            let grant = KeyGrant(key, limiter: limiter, catalog: catalog)
            for value in key.values {
                let digest = Self.bytes(ofHexadecimal: value.digest)
                entries[Self.prefix(of: digest), default: []].append(
                    Entry(digest: digest, match: Match(grant: grant, expires: value.expires))
                )
            }
        }
        self.entries = entries
        lastingKeyCount = keys.count { $0.values.contains { $0.expires == nil } }
        ends = keys.compactMap { key in
            let ends = key.values.compactMap(\.expires)
            return ends.count < key.values.count ? nil : ends.max { $0.microseconds < $1.microseconds }
        }
        origins = Array(Set(keys.flatMap(\.origins))).compactMap(OriginPattern.init)
    }

    /// The value with this text, which may have expired; `nil` if there is none.
    ///
    /// Whole digests are compared in constant time; the time of the search depends only on the digest of what was sent.
    func match(for text: [UInt8]) -> Match? {
        guard text.count <= WriteKey.maximumBytes else { return nil }
        let digest = SHA256Digest(of: text).bytes
        return entries[Self.prefix(of: digest)]?.first { ConstantTime.areEqual($0.digest, digest) }?.match
    }

    /// The number of keys that have a value which has not expired.
    package func validKeyCount(now: Timestamp) -> Int {
        lastingKeyCount + ends.count { now.microseconds < $0.microseconds }
    }

    /// Whether web pages of this origin may send with any key.
    func allows(origin: String) -> Bool { origins.contains { $0.matches(origin) } }

    private static func prefix(of digest: [UInt8]) -> UInt64 { digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }

    private static func bytes(ofHexadecimal text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var digits = text.utf8[...]
        while digits.count > 1 {
            bytes.append(UInt8(String(decoding: digits.prefix(2), as: UTF8.self), radix: 16) ?? 0)
            digits = digits.dropFirst(2)
        }
        return bytes
    }
}
