#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A file that events are appended to, under a name of its own until it is complete.
///
/// Its lock shows other processes that it is in use. To save descriptors, it can be closed, and is opened again when it is used.
final class UnfinishedFile {
    /// How many files are created at most until one of them can be used.
    private static let maximumAttempts = 10

    /// Its name until it is complete.
    let name: String
    /// What it will be called.
    let target: FileTarget
    /// When it was created.
    let began: Duration
    private let identity: FileIdentity
    private var descriptor: Descriptor?
    /// The number of bytes of settled events.
    private(set) var size = 0
    /// The number of bytes after them, whose events are not settled; `nil` if it is not known, so that they have to be cut off.
    private var tail: Int? = 0
    /// When it was last used, as a number.
    var lastUse = 0
    /// Whether it is complete, and could not be given its name.
    var isWaiting = false

    /// Creates a file, with a lock.
    init(_ target: FileTarget, _ paths: FilePaths, in folder: ArchiveFolder, now: Duration) throws(SystemFailure) {
        self.target = target
        began = now
        var names: [String] = []
        for _ in 0..<Self.maximumAttempts {
            let name = paths.unfinishedName()
            let descriptor = try folder.create(name)
            let identity: FileIdentity
            do throws(SystemFailure) {
                identity = try descriptor.identity()
                // A process that looks for the files of a killed one may have the lock, and remove this one because it is empty.
                guard try descriptor.lock(), try folder.identity(of: name)?.isSame(as: identity) == true else {
                    names.append(name)
                    continue
                }
                try folder.sync()
            } catch {
                try? folder.remove(name)
                throw error
            }
            self.name = name
            self.identity = identity
            self.descriptor = descriptor
            return
        }
        // It is not another process: this file system cannot lock files, or does not identify them.
        for name in names { try? folder.remove(name) }
        throw SystemFailure(ENOLCK)
    }

    /// Takes over the file of a killed process; `nil` if a running one has it.
    ///
    /// `recovery` says how much of it is whole, and what it is called.
    init?(
        _ name: String,
        in folder: ArchiveFolder,
        now: Duration,
        recovery: (Descriptor) throws -> (size: Int, target: FileTarget)
    ) throws {
        let descriptor = try folder.file(name)
        identity = try descriptor.identity()
        guard try descriptor.lock(), try folder.identity(of: name)?.isSame(as: identity) == true else { return nil }
        (size, target) = try recovery(descriptor)
        self.name = name
        self.descriptor = descriptor
        began = now
        tail = nil
    }

    /// Whether its name still leads to it; opens it.
    ///
    /// Somebody may have moved or removed it, and while it was closed, another process may have completed it.
    func isUsable(in folder: ArchiveFolder) throws(SystemFailure) -> Bool {
        guard try folder.identity(of: name)?.isSame(as: identity) == true else { return false }
        if descriptor == nil {
            let opened = try folder.file(name)
            guard try opened.lock(), try folder.identity(of: name)?.isSame(as: identity) == true else { return false }
            descriptor = opened
        }
        return true
    }

    /// Closes it; everything in it is synced.
    func close() {
        descriptor = nil
    }

    /// Appends bytes without syncing or settling them; the file must be usable, and stay open until it is synced.
    func append(_ bytes: [UInt8]) throws(SystemFailure) {
        guard let descriptor else { preconditionFailure("the file is used without being opened") }
        if tail == nil { try descriptor.truncate(to: size) }
        tail = nil
        try descriptor.write(bytes, at: size)
        tail = bytes.count
    }

    /// Syncs what was appended.
    func sync() throws(SystemFailure) {
        guard let descriptor else { preconditionFailure("the file is closed before it is synced") }
        try descriptor.sync()
    }

    /// The events that were appended are delivered.
    func settle() {
        size += tail ?? 0
        tail = 0
    }

    /// The events that were appended are not delivered, so their bytes are cut off.
    func rollBack() {
        guard tail != 0 else { return }
        // The next use cuts them off once more, and syncs that; after a crash, whole events that are left are repetitions.
        tail = nil
        try? descriptor?.truncate(to: size)
    }

    /// Gives it its name, in folders that are created, or removes it if it has no events; returns whether it was still there.
    func complete(from folder: ArchiveFolder, in root: ArchiveFolder) throws(SystemFailure) -> Bool {
        guard try isUsable(in: folder), let descriptor else { return false }
        if tail != 0 {
            try descriptor.truncate(to: size)
            try descriptor.sync()
            tail = 0
        }
        guard size > 0 else {
            try folder.remove(name)
            return true
        }
        let destination = try root.folder(target.folders)
        var number = 1
        while true {
            do throws(SystemFailure) {
                try folder.move(name, to: destination, as: target.name(number))
                return true
            } catch {
                guard error.isExisting else { throw error }
                if try destination.identity(of: target.name(number))?.isSame(as: identity) == true {
                    // It got its name before, and lost the other one not yet.
                    try destination.sync()
                    try folder.remove(name)
                    return true
                }
                number += 1
            }
        }
    }
}
