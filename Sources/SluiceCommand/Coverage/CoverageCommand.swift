import ArgumentParser
import EventSchema
import EventValidation
import PlanTools
import SluiceConsole
import TrackerKit

/// `sluice coverage`: what of a plan nobody uses.
struct CoverageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coverage",
        abstract: "List the events that no code sends, and the trackers that are named or configured in vain.",
        discussion: """
            Reads Swift files for uses of the generated types, 'OrderPlaced(' or 'OrderPlaced.init', in JustTrack's \
            style 'EventOrderPlaced(', and all other text files for the event's name in quotation marks. It sees text, \
            not programs: a name that is put together at run time is missed, and so is one in a string of Swift, and \
            '.init(' where only the compiler knows the type. In other languages a quoted name counts also where it is \
            not sent, in a comment or a test.

            Links within folders are not followed; hidden files, documents (.md, .rst, .adoc, .txt, .plist), the folders \
            node_modules, Pods and Carthage, binary files, those over 8 MiB, JSON Schemas, and what event-codegen and \
            'sluice export' wrote are passed over.

            Deprecated events that nobody sends are listed, and are as they should be. Trackers are compared with the \
            settings that this command is given; they count as findings with --strict-trackers only.

            Exits with 0 when there are no findings, 1 when there are, 2 when something could not be read, 64 when it \
            was called wrongly.
            """
    )

    @Argument(help: "Files and folders with the code that sends the events.", completion: .file())
    var sources: [String]

    @Flag(help: "Print one JSON object instead.")
    var json = false

    @OptionGroup var options: PipelineOptions

    func validate() throws {
        // An unset variable of a script must not make it another place.
        if sources.contains("") { throw ValidationError("A file or folder has an empty name.") }
    }

    func run() async throws {
        let settings = try await Settings.load(options.values, file: options.plan.config)
        let wiring = try Wiring(settings)
        let uses = EventUses(of: TrackingPlan(events: wiring.catalog.definitions))
        var files = SourceFiles()
        var sent: Set<Int> = []
        files.forEach(under: sources) { path, bytes in
            sent.formUnion(path.hasSuffix(".swift") ? uses.inSwift(bytes) : uses.inText(bytes))
        }
        let report = CoverageReport(
            wiring.catalog,
            sent: sent,
            configured: try wiring.trackers().map(\.name),
            files
        )
        if json {
            try Terminal.print(try JSONText.of(report))
        } else {
            try Terminal.print(lines: report.lines)
            for line in report.notes { Terminal.printError("\(line)") }
        }
        if !report.unreadable.isEmpty { throw ExitCode(2) }
        if report.hasFindings(strictTrackers: settings.strictTrackers) { throw ExitCode(1) }
    }
}
