import EventSchema
import Foundation
import PlanReading

/// Which file of a plan a new event goes to.
struct PlanFileChoice {
    /// Why no file was chosen.
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

    /// The place of the file among the sources: the one that is named, the only one, or the only one of the owner's.
    func index(named name: String?, owner: String?) throws(Undecided) -> Int {
        if let name {
            let path = Self.real(name)
            if let index = files.firstIndex(where: { Self.real($0) == path }) { return index }
            throw Undecided(sentence: "'\(name)' is no file of the plan in '\(folder)'; there are: \(list(files))")
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
            case (let owner?, true): "the plan has several files, and none with events of '\(owner)'"
            case (let owner?, false): "several files have events of '\(owner)'"
            }
        throw Undecided(sentence: "\(reason); name one with --file: \(list(candidates))")
    }

    private func list(_ files: [String]) -> String { files.joined(separator: ", ") }

    private static func real(_ path: String) -> String {
        URL(fileURLWithPath: path).resolvingSymlinksInPath().standardizedFileURL.path
    }
}
