import Foundation
import SystemPackage

/// Files and folders that a command writes together: all of them, or none.
///
/// A file that may exist is first written to a draft beside it, and replaced by that draft when all drafts are on disk.
/// So a reader finds the old bytes or the new ones, and a full disk leaves everything as it was.
struct FileTransaction {
    /// The folders and files created so far, removed again if the transaction fails.
    private var folders: [String] = []
    private var files: [String] = []
    private var drafts: [(draft: String, path: String)] = []
    /// What goes to devices and pipes, which cannot be replaced.
    private var streams: [(path: String, bytes: [UInt8])] = []

    /// Runs `body`, then replaces the files that it wrote; if anything fails, removes what was created.
    ///
    /// - Throws: what `body` throws, and exit status 1, with the file's name printed, if a file cannot be written.
    static func run(_ body: (inout FileTransaction) throws -> Void) throws {
        var transaction = FileTransaction()
        do {
            try body(&transaction)
            try transaction.commit()
        } catch {
            transaction.rollBack()
            throw error
        }
    }

    /// Creates a folder and the folders above it; an existing folder is left as it is.
    ///
    /// With `keepsOwner`, only its owner may use a new folder, and one that root creates gets the owner of the folder above it.
    mutating func createFolder(_ path: String, keepsOwner: Bool = false) throws {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
            guard isFolder.boolValue else { throw Terminal.failure("'\(path)' is not a folder.") }
            return
        }
        let parent = FilePath(path).removingLastComponent().string
        if !parent.isEmpty, parent != path { try createFolder(parent, keepsOwner: keepsOwner) }
        guard mkdir(path, keepsOwner ? 0o700 : 0o777) == 0 else {
            throw Terminal.failure("The folder '\(path)' cannot be created: \(Errno(rawValue: errno)).")
        }
        folders.append(path)
        // Only root can give a folder away.
        if keepsOwner, geteuid() == 0 {
            try Self.reportingFailure(to: path) { try Self.giveToOwner(of: parent.isEmpty ? "." : parent, path) }
        }
    }

    /// Creates a file; one that exists is an error.
    mutating func create(_ path: String, _ bytes: some Collection<UInt8>) throws {
        try Self.reportingFailure(to: path) { try writeNew(path, bytes, mode: nil) }
    }

    /// Writes a file, new or in place of an existing one, whose mode it keeps.
    ///
    /// A link stays a link, and its target is replaced. A device or a pipe is written to when all drafts are on disk.
    mutating func replace(_ path: String, _ bytes: some Collection<UInt8>) throws {
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        try Self.reportingFailure(to: path) {
            switch Self.kind(of: target) {
            case nil, .typeRegular: try writeDraft(for: target, bytes)
            case .typeDirectory: throw Errno.isDirectory
            default: streams.append((target, Array(bytes)))
            }
        }
    }

    /// Writes a regular file, new or in place of an existing one, whose mode it keeps.
    ///
    /// Anything else under that name is an error: a link may lead out of the folder that is written, and what was written
    /// to a device cannot be undone.
    ///
    /// `newMode` is the mode of a new file, or `nil` for the usual one. With `keepsOwner`, the new file gets the owner of the old
    /// one, or, if there is none, of the folder.
    mutating func replaceRegular(
        _ path: String,
        _ bytes: some Collection<UInt8>,
        newMode: UInt16? = nil,
        keepsOwner: Bool = false
    ) throws {
        try Self.reportingFailure(to: path) {
            switch Self.kind(of: path) {
            case nil, .typeRegular: try writeDraft(for: path, bytes, newMode: newMode, keepsOwner: keepsOwner)
            case .typeDirectory: throw Errno.isDirectory
            default: throw NotRegular()
            }
        }
    }

    private struct NotRegular: Error, CustomStringConvertible {
        var description: String { "Not a regular file" }
    }

    /// What is at `path`, without following a link; `nil` if nothing is there.
    private static func kind(of path: String) -> FileAttributeType? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.type] as? FileAttributeType
    }

    /// Writes the draft that replaces `path`.
    ///
    /// Its name is random: a draft that a killed run left behind must not block the next run, which in a container has
    /// the same process id.
    private mutating func writeDraft(
        for path: String,
        _ bytes: some Collection<UInt8>,
        newMode: UInt16? = nil,
        keepsOwner: Bool = false
    ) throws {
        let mode = try? FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        let draft = path + "." + String(UInt64.random(in: 0 ... .max), radix: 36) + ".draft"
        try writeNew(draft, bytes, mode: mode?.uint16Value ?? newMode)
        if keepsOwner { try Self.giveToOwner(of: path, draft) }
        drafts.append((draft, path))
    }

    /// Creates a file, writes it and waits until it is on disk; without `mode`, it gets the usual mode of new files.
    private mutating func writeNew(_ path: String, _ bytes: some Collection<UInt8>, mode: UInt16?) throws {
        let file = try FileDescriptor.open(
            FilePath(path),
            .writeOnly,
            options: [.create, .exclusiveCreate],
            permissions: mode == nil ? [.ownerReadWrite, .groupRead, .otherRead] : .ownerReadWrite
        )
        files.append(path)
        try file.closeAfter {
            _ = try file.writeAll(bytes)
            // Set here, because the process's mask restricts the mode that a file is created with.
            if let mode, fchmod(file.rawValue, mode_t(mode)) != 0 { throw Errno(rawValue: errno) }
            // Some file systems report a full disk only now.
            guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
        }
    }

    /// Gives a new file or folder to the owner of `path`, or, if nothing is there, of the folder around `path`: a server that runs as
    /// another user than this command must be able to read it.
    private static func giveToOwner(of path: String, _ new: String) throws {
        var status = stat()
        if stat(path, &status) != 0 {
            let folder = FilePath(path).removingLastComponent().string
            guard stat(folder.isEmpty ? "." : folder, &status) == 0 else { throw Errno(rawValue: errno) }
        }
        guard status.st_uid != geteuid() || status.st_gid != getegid() else { return }
        guard chown(new, status.st_uid, status.st_gid) == 0 || status.st_uid == geteuid() else {
            throw Errno(rawValue: errno)
        }
    }

    private mutating func commit() throws {
        for (path, bytes) in streams {
            try Self.reportingFailure(to: path) {
                let file = try FileDescriptor.open(FilePath(path), .writeOnly)
                try file.closeAfter { _ = try file.writeAll(bytes) }
            }
        }
        for (draft, path) in drafts {
            try Self.reportingFailure(to: path) {
                guard rename(draft, path) == 0 else { throw Errno(rawValue: errno) }
            }
        }
    }

    /// Removes what was created; a folder stays if another process has begun to use it.
    private func rollBack() {
        for file in files { unlink(file) }
        for folder in folders.reversed() { rmdir(folder) }
    }

    private static func reportingFailure(to path: String, _ work: () throws -> Void) throws {
        do {
            try work()
        } catch {
            throw Terminal.failure("'\(path)' cannot be written: \(error).")
        }
    }
}
