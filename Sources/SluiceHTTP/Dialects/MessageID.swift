import EventModel
import Hashing

extension EventID {
    /// The namespace of ids that are derived from a client's own: the UUID of version 5 of `urn:sluice:message-id` in the
    /// namespace of URLs.
    private static let messages: [UInt8] = [
        0x1B, 0x4E, 0x00, 0xF8, 0xCA, 0x5C, 0x50, 0xF9,
        0x92, 0xCD, 0x82, 0x68, 0x8D, 0x96, 0x08, 0xD2,
    ]

    /// The id of a message whose client has an id of its own: a UUID of version 5 (RFC 9562, section 5.5).
    ///
    /// The same message id always gives the same event id, so a repeated message is recognised.
    init(messageID: some Sequence<UInt8>) {
        var digest = SHA1Digest(of: Self.messages + messageID).bytes
        digest[6] = digest[6] & 0x0F | 0x50
        digest[8] = digest[8] & 0x3F | 0x80
        func word(_ start: Int) -> UInt64 { digest[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: word(0), low: word(8))
    }
}
