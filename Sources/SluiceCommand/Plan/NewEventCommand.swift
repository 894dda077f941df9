import ArgumentParser
import EventSchema
import Foundation
import PlanReading
import PlanTools

/// `sluice new-event`: adds an event to a plan file, and leaves the rest of it as it is.
struct NewEventCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new-event",
        abstract: "Add an event to a tracking plan, keeping the layout and the comments of its file.",
        discussion: """
            The event comes last in its file, written as the events before it are, with an empty payload to be \
            filled. Without --file it goes to the only file there is, or to the only one with events of the same \
            owner; without --tracker it goes where the last event of that file goes. The plan must be free of errors, \
            before and after: otherwise nothing is written.

            Exits with 0, with 1 when the event cannot be added, 64 when it was called wrongly.
            """
    )

    @Argument(help: "The event's name, as it is sent.")
    var name: String

    @Option(help: "The team that answers for the event.")
    var owner: String?

    @Option(help: "What the event means.")
    var description: String?

    @Option(help: ArgumentHelp("A tracker that receives it; can be repeated.", valueName: "name"))
    var tracker: [String] = []

    @Option(
        help: ArgumentHelp("The plan file to add it to.", valueName: "file"),
        completion: .file(extensions: ["plist"])
    )
    var file: String?

    @OptionGroup var plan: PlanFolder

    func run() async throws {
        let folder = try await self.plan.path()
        let (sources, diagnostics) = PlanReader().sources(at: [folder])
        let before = PlanReader().read(sources)
        guard let plan = before.plan, diagnostics.isEmpty else {
            for diagnostic in diagnostics + before.diagnostics { Terminal.printError("\(diagnostic)") }
            throw ExitCode(1)
        }
        do {
            let index = try PlanFileChoice(sources, plan, folder: folder).index(named: file, owner: owner)
            try add(to: index, of: sources, before)
        } catch let error as PlanFileChoice.Undecided {
            throw Terminal.failure("\(error.sentence)")
        }
    }

    private func add(to index: Int, of sources: [PlanSource], _ before: PlanReport) throws {
        let file = sources[index].file
        let neighbours = before.plan?.events ?? []
        let last = neighbours.last { $0.location.file == file } ?? neighbours.last
        let insertion = EventInsertion(
            key: name,
            description: description,
            owner: owner,
            trackers: tracker.isEmpty ? last?.trackers ?? [] : tracker
        )
        var edited = sources
        do {
            edited[index] = try insertion.applied(to: sources[index])
        } catch {
            throw Terminal.failure("\(file): \(error)")
        }
        let after = PlanReader().read(edited)
        let location = try checkedLocation(before, after)
        do {
            try FileReplacement.replace(file, with: edited[index].bytes)
        } catch {
            throw Terminal.failure("\(error)")
        }
        try Terminal.print("\(location): added '\(name)', for \(insertion.trackers.joined(separator: ", "))")
    }

    /// Where the event stands; what the plan has against it is printed and ends the command with 1.
    private func checkedLocation(_ before: PlanReport, _ after: PlanReport) throws -> PlanLocation {
        let known = Set(before.diagnostics.map(\.sentence))
        let problems = after.diagnostics.filter { !known.contains($0.sentence) }
        for problem in problems { Terminal.printError("\(problem)") }
        guard problems.isEmpty, let old = before.plan, let new = after.plan else {
            throw Terminal.failure("The event was not added: the plan would have these problems.")
        }
        let changes = PlanDiff(from: old, to: new).changes
        guard let change = changes.first, changes.count == 1, change.kind == .eventAdded, let place = change.location
        else {
            throw Terminal.failure("The event was not added: the file would not mean what it meant. Add it by hand.")
        }
        return place
    }
}
