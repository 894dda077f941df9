import Foundation
import PlanReading

/// Where a plan that is to be compared stands.
enum PlanPlace {
    /// A folder or a file.
    case disk(String)
    /// In the history of a repository; without a path it is the events folder.
    case revision(String, path: String)

    /// Takes what was typed: what exists on disk is meant so, everything else is a revision of git.
    init(_ text: String, folder: String) {
        if FileManager.default.fileExists(atPath: text) {
            self = .disk(text)
        } else if let colon = text.firstIndex(of: ":") {
            self = .revision(String(text[..<colon]), path: String(text[text.index(after: colon)...]))
        } else {
            self = .revision(text, path: folder.hasPrefix("/") ? folder : "./" + folder)
        }
    }

    /// Reads the plan with all its problems.
    ///
    /// - Throws: where git cannot show the revision.
    func read() throws(GitError) -> PlanReport {
        switch self {
        case .disk(let path): PlanReader().read(paths: [path])
        case .revision(let revision, let path): PlanReader().read(try GitTree(revision, path: path).planSources())
        }
    }
}
