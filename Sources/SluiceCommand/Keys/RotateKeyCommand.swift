import ArgumentParser
import EventModel
import SluiceHTTP

/// `sluice keys rotate`: gives a key a new value.
struct RotateKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Give a key a new value, and print it; earlier values stay valid for a while."
    )

    @Argument(help: "The name of the key.")
    var name: String

    @Option(help: ArgumentHelp("How long earlier values stay valid, in hours.", valueName: "hours"))
    var keepHours = 24

    @Option(
        help: ArgumentHelp(
            "When the new value expires (RFC 3339). Default: when the latest earlier one does.",
            valueName: "time"
        )
    )
    var expires: String?

    @OptionGroup var store: KeyStore

    func validate() throws {
        guard (0...87_600).contains(keepHours) else {
            throw ValidationError("--keep-hours takes a number from 0 to 87600.")
        }
    }

    func run() async throws {
        let text = KeyText.random()
        let now = Timestamp.now()
        let end = Timestamp(microseconds: now.microseconds + Int64(keepHours) * 3_600_000_000, fractionDigits: 0)
        let stated = try Timestamp(expiry: expires, now: now)
        var lastValid: Timestamp?
        try await store.change { keys in
            let position = try keys.position(of: name)
            // Access that was granted for a time does not become unlimited.
            let expires = stated ?? keys[position].values.last?.expires
            if let expires, expires <= now {
                throw Terminal.failure(
                    "The latest value of the key '\(name)' expired at \(expires); set a new expiry with --expires."
                )
            }
            for index in keys[position].values.indices {
                let expires = keys[position].values[index].expires
                keys[position].values[index].expires = expires.map { min($0, end) } ?? end
            }
            keys[position].values.removeAll { $0.expires.map { $0 <= now } ?? false }
            lastValid = keys[position].values.compactMap(\.expires).max()
            keys[position].values.append(WriteKey.Value(text: text, created: now, expires: expires))
        }
        try Terminal.print(TerminalText(escaping: text))
        let earlier: TerminalText =
            lastValid.map { "earlier values are valid until \($0)" } ?? "no earlier value is valid"
        Terminal.printError("This is the new value of '\(name)'. It cannot be shown again; \(earlier).")
    }
}
