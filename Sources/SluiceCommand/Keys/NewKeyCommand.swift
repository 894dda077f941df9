import ArgumentParser

/// `sluice keys new`: makes a key.
struct NewKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Make a key, and print it.",
        discussion: "Standard output gets only the key, so a script can store it."
    )

    @Argument(help: "The name of the key, which appears in lists and logs.")
    var name: String

    @Flag(help: "Do nothing if there are keys already.")
    var unlessAny = false

    @OptionGroup var grant: KeyGrantOptions
    @OptionGroup var store: KeyStore

    func run() async throws {
        if unlessAny, try await !store.read().isEmpty {
            return Terminal.printError("There are keys already; 'sluice keys list' lists them.")
        }
        let text = KeyText.random()
        let key = try grant.key(named: name, text: text)
        try await store.change { try $0.add(key) }
        try Terminal.print(TerminalText(escaping: text))
        Terminal.printError("This is the key '\(name)'. It is not stored and cannot be shown again.")
    }
}
