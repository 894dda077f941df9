public import EventModel
import Hashing

/// A key with which clients send events: its values, and what it allows.
public struct WriteKey: Sendable, Hashable {
    /// A text that clients send as the key; only its digest is stored.
    public struct Value: Sendable, Hashable {
        /// The SHA-256 digest of the text, in hexadecimal.
        public let digest: String
        /// When the value was made.
        public let created: Timestamp
        /// When the value stops being accepted; `nil` for never.
        public var expires: Timestamp?

        /// Makes a value from the text that clients send.
        public init(text: String, created: Timestamp, expires: Timestamp? = nil) {
            self.init(digest: SHA256Digest(of: Array(text.utf8)).hexadecimal, created: created, expires: expires)
        }

        package init(digest: String, created: Timestamp, expires: Timestamp?) {
            self.digest = digest
            self.created = created
            self.expires = expires
        }
    }

    /// How many events a key may send.
    public struct Limits: Sendable, Hashable {
        /// The average number of events a second, rejected ones included; `nil` for any number.
        public var eventsPerSecond: Int?
        /// How many events may come at once after a pause; by default those of ten seconds.
        ///
        /// A batch of any size is accepted while at least one event is left, and later batches wait for its rest.
        public var burst: Int?
        /// The number of events a day, rejected ones included; `nil` for any number.
        ///
        /// A day is one of UTC. The batch with which the number is reached is accepted as a whole.
        public var eventsPerDay: Int?

        /// Makes limits; without arguments, none.
        public init(eventsPerSecond: Int? = nil, burst: Int? = nil, eventsPerDay: Int? = nil) {
            self.eventsPerSecond = eventsPerSecond
            self.burst = burst
            self.eventsPerDay = eventsPerDay
        }
    }

    /// The name, which appears in lists; it is unique.
    public var name: String
    /// The values; several while clients change from one to the next, and none if the key is revoked.
    public var values: [Value]
    /// The names of the events that the key may send; `nil` for all.
    public var events: [String]?
    /// How many events the key may send.
    public var limits: Limits
    /// The origins of the web pages that may send with the key, such as `https://shop.example`.
    ///
    /// `https://*.shop.example` stands for all subdomains, and `*` for every origin. Clients other than browsers state no origin and
    /// need none here.
    public var origins: [String]

    /// Makes a key that may send every event without limits, but not from web pages.
    public init(
        name: String,
        values: [Value],
        events: [String]? = nil,
        limits: Limits = Limits(),
        origins: [String] = []
    ) {
        self.name = name
        self.values = values
        self.events = events
        self.limits = limits
        self.origins = origins
    }

    /// The maximum number of bytes of a name and of a value's text: 256.
    public static let maximumBytes = 256

    /// A sentence about the first part that is invalid; `nil` if all are valid.
    var problem: String? {
        if name.isEmpty || name.utf8.count > Self.maximumBytes || !name.unicodeScalars.allSatisfy(Self.isPrintable) {
            return "The name of a key must have 1 to \(Self.maximumBytes) printable characters."
        }
        let limits = [limits.eventsPerSecond, limits.burst, limits.eventsPerDay]
        if limits.contains(where: { $0.map { !(1...1_000_000_000_000).contains($0) } ?? false }) {
            return "The limits of the key '\(name)' must be between 1 and 1000000000000."
        }
        if self.limits.burst != nil, self.limits.eventsPerSecond == nil {
            return "The key '\(name)' has a burst, which needs a number of events per second."
        }
        if let origin = origins.first(where: { OriginPattern($0) == nil }) {
            return "The key '\(name)' has the origin '\(origin)', which is not like https://shop.example."
        }
        if values.contains(where: { $0.digest.utf8.count != 64 || !$0.digest.utf8.allSatisfy(Self.isHexDigit) }) {
            return "The key '\(name)' has a digest that is not 64 hexadecimal digits in lower case."
        }
        return nil
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value > 0x1F && !(0x7F...0x9F).contains(scalar.value)
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }
}
