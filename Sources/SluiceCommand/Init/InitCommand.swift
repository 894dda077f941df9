import ArgumentParser
import Foundation

/// `sluice init`: creates a folder with a first tracking plan and settings.
struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Create a folder with a commented example of a tracking plan, and settings.",
        discussion: """
            Writes events/orders.plist and sluice.yaml, and prints the next steps. It overwrites nothing: if there is an \
            events folder or a sluice.yaml already, it exits with 1 and writes nothing. With --segment it also writes \
            events/segment.plist or, if there is an events folder already, only that.
            """
    )

    @Argument(
        help: ArgumentHelp("The folder, created if it does not exist.", valueName: "folder"),
        completion: .directory
    )
    var folder = "."

    @Flag(
        help:
            "Write the events identify, page, screen, group and alias, which the clients of Segment and RudderStack send."
    )
    var segment = false

    func validate() throws {
        // An unset variable in a script must not select the current folder.
        if folder.isEmpty { throw ValidationError("The folder has an empty name.") }
    }

    func run() throws {
        let events = path("events")
        let settings = path("sluice.yaml")
        if segment, Self.exists(events) { return try addSegment(to: events) }
        for path in [events, settings] where Self.exists(path) {
            throw Terminal.failure("'\(path)' already exists; nothing was written.")
        }
        try FileTransaction.run { files in
            try files.createFolder(events)
            try files.create(events + "/orders.plist", PackageResources.orders_plist)
            if segment { try files.create(events + "/segment.plist", PackageResources.segment_plist) }
            try files.create(settings, PackageResources.sluice_yaml)
        }
        let more = segment ? "\(events)/segment.plist, " : ""
        try Terminal.print("Created \(events)/orders.plist, an example to edit, \(more)and \(settings). Next:\n")
        if folder != "." { try Terminal.print("    cd \(Self.quoted(folder))") }
        try Terminal.print(TerminalText(escapingLinesOf: Self.nextSteps))
    }

    private func addSegment(to events: String) throws {
        let file = events + "/segment.plist"
        guard !Self.exists(file) else { throw Terminal.failure("'\(file)' already exists; nothing was written.") }
        try FileTransaction.run { try $0.create(file, PackageResources.segment_plist) }
        try Terminal.print("Created \(file); 'sluice lint' checks it together with your other events.")
    }

    /// Whether a path is in use, also by a link without a target.
    private static func exists(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0
    }

    private func path(_ name: String) -> String {
        if folder == "." { return name }
        return folder.hasSuffix("/") ? folder + name : "\(folder)/\(name)"
    }

    /// Quotes a path for a shell, if it needs quotes.
    private static func quoted(_ path: String) -> String {
        let isPlain = path.utf8.allSatisfy { byte in
            byte > 0x7F || "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-".utf8.contains(byte)
        }
        return isPlain ? path : "'" + path.replacingOccurrences(of: "'", with: #"'\''"#) + "'"
    }

    /// The commands to run next, in the folder.
    private static let nextSteps = """
            sluice lint
            sluice serve --config sluice.yaml

        and in another terminal, send a valid event and an invalid one:

            curl -s http://127.0.0.1:8080/v1/events --json '{"name": "Order Placed", "payload": {
                "orderId": "0190a2b4-7c1e-7d3a-9f00-1234567890ab", "lines": [{"article": "teapot", "quantity": 1}],
                "total": "19.90", "currency": "EUR"}}'
            curl -s http://127.0.0.1:8080/v1/events --json '{"name": "Order Placed", "payload": {
                "orderId": "soon", "lines": [], "currency": "EUR"}}'

        Then add an event of your own:

            sluice new-event "Order Cancelled" --owner checkout
        """
}
