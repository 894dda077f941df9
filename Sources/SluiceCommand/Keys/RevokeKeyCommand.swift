import ArgumentParser
import SluiceHTTP

/// `sluice keys revoke`: removes a key.
struct RevokeKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Remove a key, or all its values but the latest."
    )

    @Argument(help: "The name of the key.")
    var name: String

    @Flag(help: "Keep the latest value, for example because an earlier one has leaked.")
    var keepLatest = false

    @OptionGroup var store: KeyStore

    func run() async throws {
        try await store.change { keys in
            let position = try keys.position(of: name)
            if keepLatest {
                keys[position].values = Array(keys[position].values.suffix(1))
            } else {
                keys.remove(at: position)
            }
        }
        Terminal.printError(
            keepLatest ? "Only the latest value of '\(name)' is valid now." : "The key '\(name)' is revoked."
        )
    }
}
