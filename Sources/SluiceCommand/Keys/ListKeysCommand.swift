import ArgumentParser
import EventModel
import SluiceHTTP

/// `sluice keys list`: lists the keys.
struct ListKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the keys: their names, values and limits, but never the keys themselves."
    )

    @OptionGroup var store: KeyStore

    @Flag(help: "Print the keys as the file contains them, in JSON.")
    var json = false

    func run() async throws {
        let keys = try await store.read()
        if json { return try Terminal.write(KeyFile.bytes(of: keys)) }
        var table = TextTable(header: ["NAME", "VALUES", "EXPIRES", "EVENTS", "RATE", "DAILY", "ORIGINS"])
        for key in keys {
            let valid = key.values.filter { $0.expires.map { $0 > Timestamp.now() } ?? true }
            // The last value to expire decides until when clients can send.
            let expires = valid.contains { $0.expires == nil } ? nil : valid.compactMap(\.expires).max()
            table.add([
                TerminalText(escaping: key.name), "\(valid.count)",
                valid.isEmpty ? "expired" : expires.map { "\($0)" } ?? "never",
                TerminalText(escaping: key.events?.abbreviatedList ?? "all"),
                key.limits.eventsPerSecond.map { "\($0)/s" } ?? "any", key.limits.eventsPerDay.map { "\($0)" } ?? "any",
                TerminalText(escaping: key.origins.isEmpty ? "none" : key.origins.abbreviatedList),
            ])
        }
        try Terminal.print(lines: table.lines)
    }
}
