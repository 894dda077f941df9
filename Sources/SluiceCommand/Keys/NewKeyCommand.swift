import ArgumentParser

/// `sluice keys new`: makes a key.
struct NewKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Create a key, and print it.",
        discussion: "Standard output gets only the key, so a script can store it."
    )

    @Argument(help: "The name of the key, which appears in lists.")
    var name: String

    @Flag(help: "Do nothing if the file exists already.")
    var ifMissing = false

    @OptionGroup var first: FirstKeyOptions
    @OptionGroup var grant: KeyGrantOptions
    @OptionGroup var store: KeyStore

    func run() async throws {
        if ifMissing, try await store.exists() {
            return Terminal.printError("The file exists already; 'sluice keys list' lists its keys.")
        }
        let text = KeyText.random()
        let key = try grant.key(named: name, text: text)
        try await store.warnOfFirstKey(isConfirmed: first.yes)
        try await store.change { try $0.add(key) }
        // At once, because it cannot be shown later.
        try Terminal.print(TerminalText(escaping: text))
        Terminal.printError("This is the key '\(name)'. It is not stored and cannot be shown again.")
        KeyStore.explainHeader(text)
        try await store.warnOfUnknownEvents(grant.allow)
    }
}
