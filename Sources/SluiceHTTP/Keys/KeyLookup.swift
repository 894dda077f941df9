package import EventModel
import Hashing

/// Finds keys for one event loop.
///
/// It remembers the last key, so that a sender's requests cost neither a lock nor a digest each.
package final class KeyLookup {
    private let keys: WriteKeys
    private var version: UInt64?
    private var current: KeyRing?
    private var last: (text: [UInt8], match: KeyRing.Match)?

    package init(_ keys: WriteKeys) {
        self.keys = keys
    }

    /// The keys; `nil` if anyone may send.
    package var ring: KeyRing? {
        let version = keys.version
        if version != self.version {
            self.version = version
            current = keys.ring
            last = nil
        }
        return current
    }

    /// What a sender with this key may do; `nil` if the key is unknown or has expired.
    package func grant(for text: [UInt8], in ring: KeyRing, now: Timestamp) -> KeyGrant? {
        if let last, ConstantTime.areEqual(last.text, text) {
            return last.match.isExpired(now: now) ? nil : last.match.grant
        }
        guard let match = ring.match(for: text) else { return nil }
        last = (text, match)
        return match.isExpired(now: now) ? nil : match.grant
    }
}
