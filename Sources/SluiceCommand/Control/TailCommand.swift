import ArgumentParser
import EventPipeline
import Foundation

/// `sluice tail`: events as a running `serve` accepts and rejects them.
struct TailCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail",
        abstract: "Show events as a running server accepts or rejects them, until Ctrl-C.",
        discussion: """
            Each event is one line of JSON: its verdict, and for an accepted event its trackers and the event, for a rejected one \
            who sent it, its errors and what was sent. Shows at most 200 events a second; the number of events that were \
            skipped is printed to standard error. Values that only some trackers may see are left out; if the plan has any, so \
            is what was sent of a rejected event.
            """
    )

    @Option(help: "Show only events of this name.")
    var event: String?

    @Option(help: "Show only accepted events for this tracker.")
    var tracker: String?

    @Option(help: ArgumentHelp("Show only accepted events with this userId.", valueName: "user-id"))
    var user: String?

    @Flag(help: "Show only rejected events.")
    var rejected = false

    @Flag(help: "Show only accepted events.")
    var accepted = false

    @OptionGroup var control: ControlOptions

    func validate() throws {
        if rejected, accepted { throw ValidationError("--rejected and --accepted exclude each other.") }
        if rejected, tracker != nil || user != nil {
            throw ValidationError("--rejected excludes --tracker and --user: a rejected event has neither.")
        }
    }

    func run() async throws {
        var query = URLComponents()
        query.queryItems = [
            ("event", event), ("tracker", tracker), ("user", user),
            ("verdict", rejected ? "rejected" : accepted ? "accepted" : nil),
        ].compactMap { name, value in value.map { URLQueryItem(name: name, value: $0) } }
        // A plus sign would be read as a space.
        let text = query.percentEncodedQuery?.replacing("+", with: "%2B") ?? ""
        try await control.process().follow("/v1/tail?\(text)") { field, value in
            if field == "missed" {
                Terminal.printError("\(value) events were skipped.")
            } else {
                try Terminal.write(Array((value + "\n").utf8))
            }
        }
        throw Terminal.failure("The process has ended.")
    }
}
