import ArgumentParser
import Foundation
import PlanTools
import SystemPackage

/// Where exports go: a file appears whole or not at all.
enum ExportOutput {
    /// Refuses an empty name: an unset variable of a script must not make it another place.
    static func validate(_ path: String?) throws {
        if path?.isEmpty == true { throw ValidationError("--output has an empty name.") }
    }

    /// Writes a file, over the one that is there.
    static func write(_ text: String, to path: String) throws {
        let path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        if let kind = kind(of: path), kind != .typeRegular {
            return try writeInto(path, kind, text)
        }
        try write([path], [text])
    }

    /// Writes files into a folder, which is made: all of them, or none.
    ///
    /// Schemas that are there and belong to no event any more are left, and named.
    static func write(_ files: [ExportedFile], into folder: String) throws {
        var made = MadeFolders()
        let paths = files.map { folder + "/" + $0.path }
        do {
            for parent in Set(paths.map { FilePath($0).removingLastComponent().string }).sorted() {
                try made.make(parent)
            }
            try write(paths, files.map(\.text))
        } catch {
            made.remove()
            throw error
        }
        nameLeftovers(in: folder, beside: paths)
    }

    // MARK: Files

    /// Each file is written beside its place first: when all are there, they take their places.
    private static func write(_ paths: [String], _ texts: [String]) throws {
        var drafts: [(draft: String, path: String)] = []
        var current = ""
        do {
            for (path, text) in zip(paths, texts) {
                current = path
                guard kind(of: path) ?? .typeRegular == .typeRegular else { throw Errno.isDirectory }
                let draft = path + ".\(ProcessInfo.processInfo.processIdentifier).draft"
                drafts.append((draft, path))
                try DraftFile.write(Array(text.utf8), to: draft)
            }
            for (draft, path) in drafts {
                current = path
                guard rename(draft, path) == 0 else { throw Errno(rawValue: errno) }
            }
        } catch {
            for (draft, _) in drafts { unlink(draft) }
            throw Terminal.failure("'\(current)' cannot be written: \(error).")
        }
    }

    /// Writes to what is no file, such as a pipe or /dev/null, which must not be replaced.
    private static func writeInto(_ path: String, _ kind: FileAttributeType, _ text: String) throws {
        do {
            guard kind != .typeDirectory else { throw Errno.isDirectory }
            let file = try FileDescriptor.open(FilePath(path), .writeOnly)
            try file.closeAfter { _ = try file.writeAll(text.utf8) }
        } catch {
            throw Terminal.failure("'\(path)' cannot be written: \(error).")
        }
    }

    private static func kind(of path: String) -> FileAttributeType? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
    }

    // MARK: Folders

    private static func nameLeftovers(in folder: String, beside paths: [String]) {
        let known = Set(paths)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder + "/events")) ?? []
        for name in names.sorted() where name.hasSuffix(".schema.json") {
            let path = folder + "/events/" + name
            if !known.contains(path) { Terminal.printError("warning: '\(path)' belongs to no event of the plan") }
        }
    }
}
