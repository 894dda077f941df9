package import EventJournal
import Foundation
import Synchronization

/// A folder that calls a hook before each sync or write, on the calling thread, and whose writes fail on request.
package final class HookedFileSystem: FileSystem {
    private let files: any FileSystem
    private let hook = Mutex<(@Sendable () -> Void)?>(nil)
    private let writeHook = Mutex<(@Sendable () -> Void)?>(nil)
    private let failsWrites = Mutex(false)

    package init(_ files: any FileSystem) {
        self.files = files
    }

    /// Sets the hook for syncs; `nil` for none.
    package func setHook(_ hook: (@Sendable () -> Void)?) { self.hook.withLock { $0 = hook } }

    /// Sets the hook for writes; `nil` for none.
    package func setWriteHook(_ hook: (@Sendable () -> Void)?) { writeHook.withLock { $0 = hook } }

    /// Sets whether writes fail.
    package func failWrites(_ fails: Bool) { failsWrites.withLock { $0 = fails } }

    private func callHook() { hook.withLock { $0 }?() }

    private func checkWrite(_ name: String) throws(FileError) {
        writeHook.withLock { $0 }?()
        if failsWrites.withLock({ $0 }) { throw FileError("write", name, EIO) }
    }

    package func names() throws(FileError) -> [String] { try files.names() }
    package func remove(_ name: String) throws(FileError) { try files.remove(name) }
    package func rename(_ name: String, to other: String) throws(FileError) { try files.rename(name, to: other) }
    package func freeBytes() throws(FileError) -> Int {
        if failsWrites.withLock({ $0 }) { throw FileError("read the free space of", ".", EIO) }
        return try files.freeBytes()
    }

    package func open(_ name: String, creates: Bool) throws(FileError) -> any JournalFile {
        File(system: self, name: name, file: try files.open(name, creates: creates))
    }

    package func create(_ name: String) throws(FileError) -> any JournalFile {
        File(system: self, name: name, file: try files.create(name))
    }

    package func modificationTime(of name: String) throws(FileError) -> Int64 {
        try files.modificationTime(of: name)
    }

    package func syncFolder() throws(FileError) {
        callHook()
        try files.syncFolder()
    }

    private final class File: JournalFile {
        private let system: HookedFileSystem
        private let name: String
        private let file: any JournalFile

        init(system: HookedFileSystem, name: String, file: any JournalFile) {
            self.system = system
            self.name = name
            self.file = file
        }

        func size() throws(FileError) -> Int { try file.size() }

        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int {
            try file.read(into: buffer, at: offset)
        }

        func write(_ parts: [UnsafeRawBufferPointer], at offset: Int) throws(FileError) {
            try system.checkWrite(name)
            try file.write(parts, at: offset)
        }

        func sync() throws(FileError) {
            system.callHook()
            try file.sync()
        }

        func truncate(to size: Int) throws(FileError) { try file.truncate(to: size) }
        func releaseMemory(before offset: Int) { file.releaseMemory(before: offset) }
    }
}
