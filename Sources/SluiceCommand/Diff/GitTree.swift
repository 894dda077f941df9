import Foundation
import PlanReading

/// A folder or a file at a revision of a Git repository.
struct GitTree {
    private let revision: String
    private let path: String

    /// Names a path at a revision: relative to the repository's root, with `./` relative to the current folder, or absolute.
    ///
    /// - Throws: `GitError` if an absolute path is not in the repository of the current folder.
    init(_ revision: String, path: String) throws(GitError) {
        self.revision = revision
        let path = path.hasPrefix("/") ? try Self.pathFromRoot(of: path) : path
        // Git interprets a trailing slash as a folder, which a link is not; only "./" and "../" need theirs.
        let name = String(path.reversed().drop { $0 == "/" }.reversed())
        self.path = [".", ".."].contains(name.split(separator: "/").last) ? path : name
    }

    /// Reads the plan files; their names include the revision.
    ///
    /// - Throws: `GitError` if the revision or the path does not exist or cannot be read.
    func planSources() throws(GitError) -> [PlanSource] {
        let object = try object()
        if try line(["cat-file", "-t", object]) == "blob" {
            try refuseLink()
            return [PlanSource(file: name(nil), bytes: try contents(of: object))]
        }
        var sources: [PlanSource] = []
        for entry in try entries(of: object) where entry.isPlan {
            guard entry.isFile else {
                throw GitError(
                    "\(name(entry.name)) is a link or a folder, not a file; name the folder that it stands for"
                )
            }
            sources.append(PlanSource(file: name(entry.name), bytes: try contents(of: entry.object)))
        }
        guard !sources.isEmpty else { throw GitError("\(name(nil)): this folder has no *.plist file") }
        return sources
    }

    // MARK: Objects

    /// The object id of the tree or file.
    private func object() throws(GitError) -> String {
        if let id = try id(of: path) { return id }
        let inside = try Git.run(["rev-parse", "--is-inside-work-tree"])
        guard inside.status == 0 else {
            throw GitError("'\(revision)' is neither a file nor a folder, and not a revision: \(inside.complaint)")
        }
        let tree = ["rev-parse", "--verify", "--quiet", "--end-of-options", "\(revision)^{tree}"]
        guard try Git.run(tree).status == 0 else {
            throw GitError("'\(revision)' is neither a file nor a folder, nor a revision known to Git")
        }
        throw GitError(
            """
            '\(path)' does not exist in the revision '\(revision)'; if the plan was in another folder then, name it as \
            \(revision):PATH; if there was no plan yet, there is nothing to compare
            """
        )
    }

    /// The object id at a path of the revision; `nil` if the path does not exist there.
    private func id(of path: some StringProtocol) throws(GitError) -> String? {
        let found = try Git.run(["rev-parse", "--verify", "--quiet", "--end-of-options", "\(revision):\(path)"])
        return found.status == 0 ? Self.firstLine(of: found.output) : nil
    }

    /// Refuses a symbolic link, which Git stores as a file that holds the target's path.
    private func refuseLink() throws(GitError) {
        let start = path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex
        guard let folder = try id(of: path[..<start]) else { return }
        guard try entries(of: folder).contains(where: { $0.name == path[start...] && !$0.isFile }) else { return }
        throw GitError("\(name(nil)) is a link; name its target as \(revision):PATH")
    }

    private struct Entry {
        let mode: Substring
        let object: String
        let name: String

        var isPlan: Bool { name.lowercased().hasSuffix(".plist") && !name.hasPrefix(".") }
        var isFile: Bool { mode.hasPrefix("100") }

        /// Parses `mode type object<TAB>name`.
        init?(_ record: Substring) {
            let parts = record.split(separator: "\t", maxSplits: 1)
            let words = parts.first?.split(separator: " ") ?? []
            guard parts.count == 2, words.count == 3 else { return nil }
            mode = words[0]
            object = String(words[2])
            name = String(parts[1])
        }
    }

    private func entries(of tree: String) throws(GitError) -> [Entry] {
        let output = try answer(["ls-tree", "--full-tree", "-z", tree])
        let records = String(decoding: output, as: UTF8.self).split(separator: "\0")
        return records.compactMap { Entry($0) }.sorted { $0.name < $1.name }
    }

    private func contents(of object: String) throws(GitError) -> [UInt8] {
        Array(try answer(["cat-file", "blob", object]))
    }

    // MARK: Answers

    private func answer(_ arguments: [String]) throws(GitError) -> Data {
        let answer = try Git.run(arguments)
        // SIGPIPE means that we stopped reading a file too long for a plan, which the plan reader will report.
        guard answer.status == 0 || answer.status == SIGPIPE else {
            throw GitError("Git cannot read \(name(nil)): \(answer.complaint)")
        }
        return answer.output
    }

    private func line(_ arguments: [String]) throws(GitError) -> String? {
        Self.firstLine(of: try answer(arguments))
    }

    private static func firstLine(of output: Data) -> String? {
        String(decoding: output, as: UTF8.self).split(separator: "\n").first.map(String.init)
    }

    // MARK: Names

    /// The name of a file in diagnostics: `main:events/shop.plist`.
    private func name(_ file: String?) -> String {
        let folder = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
        let separator = folder.isEmpty || folder.hasSuffix("/") ? "" : "/"
        return "\(revision):\(folder)" + (file.map { separator + $0 } ?? "")
    }

    /// Converts an absolute path to one relative to the repository's root.
    private static func pathFromRoot(of path: String) throws(GitError) -> String {
        let found = try Git.run(["rev-parse", "--show-toplevel"])
        guard found.status == 0, let root = firstLine(of: found.output) else {
            throw GitError("a revision needs a Git repository: \(found.complaint)")
        }
        let top = URL(fileURLWithPath: root).resolvingSymlinksInPath().path
        let full = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard full == top || full.hasPrefix(top + "/") else {
            throw GitError("'\(path)' is not in the repository '\(root)'; name the plan as REV:PATH")
        }
        return String(full.dropFirst(top.count + 1))
    }
}
