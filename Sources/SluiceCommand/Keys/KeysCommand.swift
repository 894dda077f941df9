import ArgumentParser
import EventModel
import SluiceHTTP

/// `sluice keys`: makes and revokes the keys with which clients send events.
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Create, list, change, rotate and revoke the write keys with which clients send events.",
        discussion: """
            Only digests of keys are stored, so a key is shown once. A running server takes changes within a second. Once \
            the file exists, every request needs a key.
            """,
        subcommands: [
            NewKeyCommand.self, ListKeysCommand.self, ChangeKeyCommand.self, RotateKeyCommand.self,
            RevokeKeyCommand.self, ImportKeyCommand.self,
        ]
    )
}

/// Whether the first key may be made beside a server that needs none so far.
struct FirstKeyOptions: ParsableArguments {
    @Flag(help: "Add the first key although a running server accepts events without one, and will reject them then.")
    var yes = false
}

/// What a new key may send.
struct KeyGrantOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("An event that the key may send; can be repeated. Default: all events.", valueName: "event")
    )
    var allow: [String] = []

    @Option(
        help: ArgumentHelp(
            "The average number of events per second, rejected ones included. Default: no limit.",
            valueName: "number"
        )
    )
    var rate: Int?

    @Option(help: ArgumentHelp("How many events may come at once. Default: ten times --rate.", valueName: "number"))
    var burst: Int?

    @Option(
        help: ArgumentHelp(
            "The number of events per day in UTC, rejected ones included. Default: no limit.",
            valueName: "number"
        )
    )
    var daily: Int?

    @Option(
        help: ArgumentHelp(
            "An origin of web pages that may send, such as https://shop.example, https://*.shop.example or *; can be repeated.",
            valueName: "origin"
        )
    )
    var origin: [String] = []

    @Option(help: ArgumentHelp("When the value of the key expires (RFC 3339). Default: never.", valueName: "time"))
    var expires: String?

    /// Whether nothing but the time of expiry is given.
    var isEmpty: Bool { allow.isEmpty && rate == nil && burst == nil && daily == nil && origin.isEmpty }

    /// A key of this name with one value.
    func key(named name: String, text: String) throws -> WriteKey {
        let now = Timestamp.now()
        let expires = try Timestamp(expiry: expires, now: now)
        return WriteKey(
            name: name,
            values: [WriteKey.Value(text: text, created: now, expires: expires)],
            events: allow.isEmpty ? nil : allow,
            limits: WriteKey.Limits(eventsPerSecond: rate, burst: burst, eventsPerDay: daily),
            origins: origin
        )
    }
}

extension Timestamp {
    /// Parses the value of `--expires`; `nil` if the option was not given.
    ///
    /// - Throws: `ValidationError` if the value is not an RFC 3339 time, or is not in the future.
    init?(expiry text: String?, now: Timestamp) throws {
        guard let text, let time = try Timestamp(option: "--expires", text) else { return nil }
        guard time > now else {
            throw ValidationError("--expires takes a time in the future, and '\(text)' is in the past.")
        }
        self = time
    }
}
