import ArgumentParser
import SluiceHTTP

/// `sluice keys change`: changes what a key may send.
struct ChangeKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "change",
        abstract: "Change the events, limits or origins of a key, and keep its values.",
        discussion: "Each option replaces what the key had; everything else stays as it is."
    )

    @Argument(help: "The name of the key.")
    var name: String

    @Option(help: ArgumentHelp("An event that the key may send; can be repeated.", valueName: "event"))
    var allow: [String] = []

    @Flag(help: "Allow the key to send all events.")
    var allowAll = false

    @Option(help: ArgumentHelp("The average number of events per second; 0 for no limit.", valueName: "number"))
    var rate: Int?

    @Option(help: ArgumentHelp("How many events may come at once; 0 for ten times the rate.", valueName: "number"))
    var burst: Int?

    @Option(help: ArgumentHelp("The number of events per day in UTC; 0 for no limit.", valueName: "number"))
    var daily: Int?

    @Option(help: ArgumentHelp("An origin of web pages that may send; can be repeated.", valueName: "origin"))
    var origin: [String] = []

    @Flag(help: "Do not allow web pages to send with the key.")
    var noOrigins = false

    @OptionGroup var store: KeyStore

    func validate() throws {
        if allowAll, !allow.isEmpty { throw ValidationError("--allow and --allow-all exclude each other.") }
        if noOrigins, !origin.isEmpty { throw ValidationError("--origin and --no-origins exclude each other.") }
    }

    func run() async throws {
        try await store.change { keys in
            let position = try keys.position(of: name)
            if allowAll || !allow.isEmpty { keys[position].events = allowAll ? nil : allow }
            if noOrigins || !origin.isEmpty { keys[position].origins = origin }
            Self.set(rate, to: &keys[position].limits.eventsPerSecond)
            Self.set(burst, to: &keys[position].limits.burst)
            Self.set(daily, to: &keys[position].limits.eventsPerDay)
            if keys[position].limits.eventsPerSecond == nil { keys[position].limits.burst = nil }
        }
        try await store.warnOfUnknownEvents(allow)
        Terminal.printError("The key '\(name)' is changed.")
    }

    private static func set(_ option: Int?, to limit: inout Int?) {
        if let option { limit = option == 0 ? nil : option }
    }
}
