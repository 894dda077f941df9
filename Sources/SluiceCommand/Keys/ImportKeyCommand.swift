import ArgumentParser
import EventModel
import SluiceHTTP

/// `sluice keys import`: takes over a key that clients already have.
struct ImportKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import a key that clients already use, for example a write key of Segment.",
        discussion: """
            Reads the key from standard input, because other users could see it in the list of processes. If there is a key \
            of this name, it gets the imported one as a further value.
            """
    )

    @Argument(help: "The name of the key, which appears in lists.")
    var name: String

    @OptionGroup var first: FirstKeyOptions
    @OptionGroup var grant: KeyGrantOptions
    @OptionGroup var store: KeyStore

    func run() async throws {
        let text = (readLine() ?? "").trimmingPrefix { $0.isWhitespace }
        guard text.utf8.count >= Self.minimumBytes, text.utf8.count <= WriteKey.maximumBytes,
            text.utf8.allSatisfy({ $0 > UInt8(ascii: " ") && $0 < 0x7F })
        else {
            throw Terminal.failure(
                "Standard input must contain a key of \(Self.minimumBytes) to \(WriteKey.maximumBytes) visible ASCII characters."
            )
        }
        let key = try grant.key(named: name, text: String(text))
        try await store.warnOfFirstKey(isConfirmed: first.yes)
        try await store.change { keys in
            guard let position = keys.firstIndex(where: { $0.name == name }) else { return keys.append(key) }
            guard grant.isEmpty else {
                throw Terminal.failure(
                    "There is a key '\(name)' already; 'sluice keys change' changes what it may send."
                )
            }
            // A value that is imported again gets the new time of expiry.
            keys[position].values.removeAll { $0.digest == key.values.first?.digest }
            keys[position].values += key.values
        }
        try await store.warnOfUnknownEvents(grant.allow)
        Terminal.printError("The key '\(name)' is imported.")
    }

    /// Shorter keys could be guessed.
    private static let minimumBytes = 16
}
