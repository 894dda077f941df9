import EventJournal
import Foundation
import Synchronization

/// A journal's folder whose syncs hang while a test lets them.
final class HangingFiles: FileSystem {
    private let files: PosixFileSystem
    private let path: String
    private let condition = NSCondition()
    private let hangs = Mutex(false)

    init(_ path: String) throws {
        self.path = path
        files = try PosixFileSystem(path: path)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Makes each sync of a file from now on hang.
    func hang() {
        hangs.withLock { $0 = true }
    }

    /// Lets all syncs go on.
    func answer() {
        condition.lock()
        hangs.withLock { $0 = false }
        condition.broadcast()
        condition.unlock()
    }

    private func wait() {
        condition.lock()
        while hangs.withLock({ $0 }) { condition.wait() }
        condition.unlock()
    }

    func names() throws(FileError) -> [String] { try files.names() }
    func remove(_ name: String) throws(FileError) { try files.remove(name) }
    func rename(_ name: String, to other: String) throws(FileError) { try files.rename(name, to: other) }
    func freeBytes() throws(FileError) -> Int { try files.freeBytes() }
    func syncFolder() throws(FileError) { try files.syncFolder() }

    func open(_ name: String, creates: Bool) throws(FileError) -> any JournalFile {
        File(folder: self, file: try files.open(name, creates: creates))
    }

    func create(_ name: String) throws(FileError) -> any JournalFile {
        File(folder: self, file: try files.create(name))
    }

    private struct File: JournalFile {
        let folder: HangingFiles
        let file: any JournalFile

        func size() throws(FileError) -> Int { try file.size() }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int {
            try file.read(into: buffer, at: offset)
        }

        func write(_ parts: [UnsafeRawBufferPointer], at offset: Int) throws(FileError) {
            try file.write(parts, at: offset)
        }

        func sync() throws(FileError) {
            folder.wait()
            try file.sync()
        }

        func truncate(to size: Int) throws(FileError) { try file.truncate(to: size) }
        func releaseMemory(before offset: Int) { file.releaseMemory(before: offset) }
    }
}
