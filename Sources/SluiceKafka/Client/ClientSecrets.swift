import EventModel

/// What a client reads only when it is created: its properties, and the files with keys and certificates that they name.
///
/// After a failure, a difference means that the secrets were replaced, so that a new client may succeed.
struct ClientSecrets: Equatable {
    private let properties: [String: String]
    private let files: [String: [UInt8]]

    /// Reads the files that the properties name; a file that cannot be read counts as empty, and librdkafka reports it.
    init(_ properties: [String: String]) {
        self.properties = properties
        files = properties.filter { $0.key.hasPrefix("ssl.") && $0.key.hasSuffix(".location") }
            .mapValues { (try? RegularFile.contents(given: $0)) ?? [] }
    }
}
