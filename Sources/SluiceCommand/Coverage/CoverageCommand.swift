import ArgumentParser
import EventSchema
import EventValidation
import PlanTools
import SluiceSettings
import TrackerKit

/// `sluice coverage`: finds the parts of a plan that nothing uses.
struct CoverageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "coverage",
        abstract: "List events that no code sends, and trackers that are only named or only configured.",
        discussion: """
            Searches Swift files for uses of the generated types ('OrderPlaced(', 'OrderPlaced.init', or 'EventOrderPlaced(' \
            in JustTrack's style), and all other text files for the event's name in quotation marks. The search is \
            textual: it misses names composed at run time, names in Swift strings, and '.init(' with an inferred type. In \
            other languages, a quoted name in a comment or a test counts as a use.

            Skips symbolic links within folders, hidden files, documents (.md, .rst, .adoc, .txt, .plist), the folders \
            node_modules, Pods and Carthage, binary files, files over 8 MiB, JSON Schemas, and files written by \
            event-codegen and 'sluice export'.

            Deprecated events that no code sends are listed, but are not findings. Trackers are compared with the settings \
            of this command, and are findings only with --strict-trackers.

            Exits with 0 if there are no findings, 1 if there are, 2 if something could not be read, and 64 for wrong usage.
            """
    )

    @Argument(help: "Files and folders with the code that sends events.", completion: .file())
    var sources: [String]

    @Flag(help: "Print one JSON object instead of text.")
    var json = false

    @OptionGroup var plan: PlanFolder
    @OptionGroup var trackers: TrackerOptions
    @OptionGroup var options: PipelineOptions

    func validate() throws {
        // An unset variable in a script must not select the current folder.
        if sources.contains("") { throw ValidationError("A file or folder has an empty name.") }
    }

    func run() async throws {
        let settings = try Settings.load(CommandLineSettings(plan, trackers, options), file: plan.config.path)
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
            configured: settings.trackers.map(\.name),
            files
        )
        if json {
            try Terminal.print(try JSONText.of(report))
        } else {
            try Terminal.print(lines: report.lines)
            for line in report.notes { Terminal.printError("\(line)") }
        }
        if !report.unreadable.isEmpty { throw ExitCode(2) }
        if report.hasFindings(strictTrackers: settings.process.strictTrackers) { throw ExitCode(1) }
    }
}
