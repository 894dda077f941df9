import Foundation
import PlanReading

/// A folder, or a file, as it was at a revision of a git repository.
struct GitTree {
    private let revision: String
    private let path: String

    /// Takes a revision, and a path in it: from the repository's root, from here with `./`, or an absolute one.
    init(_ revision: String, path: String) throws(GitError) {
        self.revision = revision
        let path = path.hasPrefix("/") ? try Self.pathFromRoot(of: path) : path
        // What stands before a slash git takes for a folder, and a link is none; "./" and "../" mean this only with it.
        let name = String(path.reversed().drop { $0 == "/" }.reversed())
        self.path = [".", ".."].contains(name.split(separator: "/").last) ? path : name
    }

    /// The plan files in it, with names that tell the revision.
    ///
    /// - Throws: where the revision or the path is not there, or cannot be read.
    func planSources() throws(GitError) -> [PlanSource] {
        let object = try object()
        if try line(["cat-file", "-t", object]) == "blob" {
            try refuseLink()
            return [PlanSource(file: name(nil), bytes: try contents(of: object))]
        }
        var sources: [PlanSource] = []
        for entry in try entries(of: object) where entry.isPlan {
            guard entry.isFile else {
                throw GitError("\(name(entry.name)) is no file, but a link or a folder; name the folder it stands for")
            }
            sources.append(PlanSource(file: name(entry.name), bytes: try contents(of: entry.object)))
        }
        guard !sources.isEmpty else { throw GitError("\(name(nil)): there is no *.plist file in this folder") }
        return sources
    }

    // MARK: Objects

    /// The id of the tree or file.
    private func object() throws(GitError) -> String {
        if let id = try id(of: path) { return id }
        let inside = try Git.run(["rev-parse", "--is-inside-work-tree"])
        guard inside.status == 0 else {
            throw GitError("'\(revision)' is neither a file nor a folder, and no revision: \(inside.complaint)")
        }
        let tree = ["rev-parse", "--verify", "--quiet", "--end-of-options", "\(revision)^{tree}"]
        guard try Git.run(tree).status == 0 else {
            throw GitError("'\(revision)' is neither a file nor a folder, nor a revision that git knows")
        }
        throw GitError(
            """
            '\(path)' is not there in the revision '\(revision)'; if the plan stood elsewhere then, name that place as \
            \(revision):PATH; if there was none yet, there is nothing to compare
            """
        )
    }

    /// The id of what is at a path of the revision; `nil` where nothing is.
    private func id(of path: some StringProtocol) throws(GitError) -> String? {
        let found = try Git.run(["rev-parse", "--verify", "--quiet", "--end-of-options", "\(revision):\(path)"])
        return found.status == 0 ? Self.firstLine(of: found.output) : nil
    }

    /// Refuses a link, which git has as a file with the path it leads to.
    private func refuseLink() throws(GitError) {
        let start = path.lastIndex(of: "/").map(path.index(after:)) ?? path.startIndex
        guard let folder = try id(of: path[..<start]) else { return }
        guard try entries(of: folder).contains(where: { $0.name == path[start...] && !$0.isFile }) else { return }
        throw GitError("\(name(nil)) is a link; name the folder it stands for, as \(revision):PATH")
    }

    private struct Entry {
        let mode: Substring
        let object: String
        let name: String

        var isPlan: Bool { name.lowercased().hasSuffix(".plist") && !name.hasPrefix(".") }
        var isFile: Bool { mode.hasPrefix("100") }

        /// Takes `mode type object<TAB>name`.
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
        // A signal is ours: a file too long to be a plan's was not read to its end, and the plan's reader will say so.
        guard answer.status == 0 || answer.status == SIGPIPE else {
            throw GitError("git cannot read \(name(nil)): \(answer.complaint)")
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

    /// What diagnostics call a file: `main:events/shop.plist`.
    private func name(_ file: String?) -> String {
        let folder = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
        let separator = folder.isEmpty || folder.hasSuffix("/") ? "" : "/"
        return "\(revision):\(folder)" + (file.map { separator + $0 } ?? "")
    }

    /// An absolute path as one from the repository's root.
    private static func pathFromRoot(of path: String) throws(GitError) -> String {
        let found = try Git.run(["rev-parse", "--show-toplevel"])
        guard found.status == 0, let root = firstLine(of: found.output) else {
            throw GitError("a revision needs a repository of git: \(found.complaint)")
        }
        let top = URL(fileURLWithPath: root).resolvingSymlinksInPath().path
        let full = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard full == top || full.hasPrefix(top + "/") else {
            throw GitError("'\(path)' is not in the repository '\(root)'; name what is meant as REV:PATH")
        }
        return String(full.dropFirst(top.count + 1))
    }
}
