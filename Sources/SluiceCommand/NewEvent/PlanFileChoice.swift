import EventSchema
import Foundation
import PlanReading

/// Chooses the file of a plan that a new event is added to.
struct PlanFileChoice {
    /// The reason why no file was chosen.
    struct Undecided: Error {
        let sentence: String
    }

    private let files: [String]
    private let plan: TrackingPlan
    private let folder: String

    init(_ sources: [PlanSource], _ plan: TrackingPlan, folder: String) {
        files = sources.map(\.file)
        self.plan = plan
        self.folder = folder
    }

    /// The index of the file among the sources: the named one, the only one, or the only one with events of the owner.
    func index(named name: String?, owner: String?) throws(Undecided) -> Int {
        if let name {
            let path = Self.real(name)
            if let index = files.firstIndex(where: { Self.real($0) == path }) { return index }
            throw Undecided(
                sentence: "'\(name)' is not a file of the plan in '\(folder)'; its files are: \(list(files))"
            )
        }
        if files.count == 1 { return 0 }
        let owned = files.indices.filter { index in
            owner != nil && plan.events.contains { $0.location.file == files[index] && $0.owner == owner }
        }
        if owned.count == 1 { return owned[0] }
        let candidates = owned.isEmpty ? files : owned.map { files[$0] }
        let reason =
            switch (owner, owned.isEmpty) {
            case (nil, _): "the plan has several files"
            case (let owner?, true): "the plan has several files, and none has events of '\(owner)'"
            case (let owner?, false): "several files have events of '\(owner)'"
            }
        throw Undecided(sentence: "\(reason); name one with --file: \(list(candidates))")
    }

    private func list(_ files: [String]) -> String { files.joined(separator: ", ") }

    private static func real(_ path: String) -> String {
        URL(fileURLWithPath: path).resolvingSymlinksInPath().standardizedFileURL.path
    }
}
