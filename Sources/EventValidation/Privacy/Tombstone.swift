package import EventModel
import Hashing

/// Says that a person's events were erased, without naming the person: a keyed hash of an identifier, and the time of the request.
///
/// It covers the events that were received before the request. A person who returns afterwards is not affected.
package struct Tombstone: Sendable, Hashable {
    /// What an identifier identifies.
    package enum Subject: String, Sendable, CaseIterable {
        /// The value of `userId`.
        case user
        /// The value of `anonymousId`, in events without a user.
        case anonymous
    }

    /// What the identifier identifies.
    package let subject: Subject
    /// The hash of the identifier: 64 hexadecimal digits in lower case.
    package let hash: String
    /// When the erasure was requested.
    package let requestedAt: Timestamp

    /// Creates a tombstone whose hash is known.
    package init(subject: Subject, hash: String, requestedAt: Timestamp) {
        self.subject = subject
        self.hash = hash
        self.requestedAt = requestedAt
    }

    /// Creates the tombstone of an identifier.
    package init(of identifier: String, _ subject: Subject, requestedAt: Timestamp, key: HashKey) {
        self.init(
            subject: subject,
            hash: key.tombstoneHash(of: identifier, subject).text,
            requestedAt: requestedAt
        )
    }
}

extension HashKey {
    /// A hash of this key, which tells two keys apart and from which the key cannot be computed.
    package var fingerprint: String {
        TombstoneHash("sluice hash key", of: [], key: bytes).text
    }

    /// The hash of an identifier in a tombstone.
    package func tombstoneHash(of identifier: String, _ subject: Tombstone.Subject) -> TombstoneHash {
        var identifier = identifier
        return identifier.withUTF8 { tombstoneHash(of: UnsafeRawBufferPointer($0), subject) }
    }

    func tombstoneHash(of identifier: UnsafeRawBufferPointer, _ subject: Tombstone.Subject) -> TombstoneHash {
        TombstoneHash("sluice tombstone \(subject.rawValue)", of: identifier, key: bytes)
    }
}

/// A keyed hash for tombstones.
///
/// It differs from the hash of the same text as the value of a property, so that neither reveals the other.
package struct TombstoneHash: Sendable, Hashable {
    private let code: HMACSHA256

    fileprivate init(_ purpose: String, of bytes: some Collection<UInt8>, key: [UInt8]) {
        let message = Array(purpose.utf8) + [0] + bytes
        code = message.withUnsafeBytes { HMACSHA256(of: $0, key: key) }
    }

    /// 64 hexadecimal digits in lower case.
    package var text: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: code.bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
