import Foundation
import PlanReading

/// The place of a plan that `sluice diff` compares.
enum PlanPlace {
    /// A folder or a file on disk.
    case disk(String)
    /// A path at a Git revision.
    case revision(String, path: String)

    /// Parses an argument: the name of an existing file or folder, or else a Git revision.
    ///
    /// `folder` is the events folder, which is read at a revision without a path.
    init(_ text: String, folder: String) {
        if FileManager.default.fileExists(atPath: text) {
            self = .disk(text)
        } else if let colon = text.firstIndex(of: ":") {
            self = .revision(String(text[..<colon]), path: String(text[text.index(after: colon)...]))
        } else {
            self = .revision(text, path: folder.hasPrefix("/") ? folder : "./" + folder)
        }
    }

    /// Reads the plan with all its diagnostics.
    ///
    /// - Throws: `GitError` if Git cannot read the revision.
    func read() throws(GitError) -> PlanReport {
        switch self {
        case .disk(let path): PlanReader().read(paths: [path])
        case .revision(let revision, let path): PlanReader().read(try GitTree(revision, path: path).planSources())
        }
    }
}
