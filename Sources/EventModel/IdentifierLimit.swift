/// The limit on the texts that identify a person, a device or a session.
package enum IdentifierLimit {
    /// The maximum size of `userId`, `anonymousId` and `sessionId`, in bytes of UTF-8.
    ///
    /// Destinations index these texts: PostgreSQL refuses a row whose text does not fit into an entry of an index, some 2.7 KB.
    package static let maximumBytes = 512

    /// The limit in a violation's words.
    package static var expected: String { "at most \(maximumBytes) bytes" }
}
