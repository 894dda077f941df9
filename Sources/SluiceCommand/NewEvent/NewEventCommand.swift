import ArgumentParser
import EventSchema
import Foundation
import PlanReading
import PlanTools

/// `sluice new-event`: adds an event to a plan file, and leaves the rest of the file unchanged.
struct NewEventCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new-event",
        abstract: "Add an event to a tracking plan, and keep the layout and the comments of its file.",
        discussion: """
            Adds the event at the end of its file, in the style of the events before it, with an empty payload for you to \
            fill in. Without --file, it uses the plan's only file, or the only file with events of the same owner. \
            Without --tracker, it copies the trackers of the last event in that file. If the plan has errors, before or \
            after the change, nothing is written.

            Exits with 0 if the event was added, 1 if it cannot be added, and 64 for wrong usage.
            """
    )

    @Argument(help: "The event's name, as senders write it.")
    var name: String

    @Option(help: "The team that is responsible for the event.")
    var owner: String?

    @Option(help: "What the event means.")
    var description: String?

    @Option(help: ArgumentHelp("A tracker that receives the event; can be repeated.", valueName: "name"))
    var tracker: [String] = []

    @Option(
        help: ArgumentHelp("The plan file to add the event to.", valueName: "file"),
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
        try FileTransaction.run { try $0.replace(file, edited[index].bytes) }
        try Terminal.print("\(location): added '\(name)' for \(insertion.trackers.joined(separator: ", "))")
    }

    /// The event's place in the edited plan; prints new problems, and throws exit status 1 if there are any.
    private func checkedLocation(_ before: PlanReport, _ after: PlanReport) throws -> PlanLocation {
        let known = Set(before.diagnostics.map(\.sentence))
        let problems = after.diagnostics.filter { !known.contains($0.sentence) }
        for problem in problems { Terminal.printError("\(problem)") }
        guard problems.isEmpty, let old = before.plan, let new = after.plan else {
            throw Terminal.failure("The event was not added, because the plan would have these problems.")
        }
        let changes = PlanDiff(from: old, to: new).changes
        guard let change = changes.first, changes.count == 1, change.kind == .eventAdded, let place = change.location
        else {
            throw Terminal.failure(
                "The event was not added, because other parts of the plan would change. Add it by hand."
            )
        }
        return place
    }
}
