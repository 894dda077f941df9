package import EventJournal
import Synchronization
package import TestCases

/// A folder in memory whose calls can fail, and that loses unsynced changes at a simulated crash.
///
/// - At a crash, an unsynced write survives as a whole, not at all, or in part, in sectors of 512 bytes.
/// - The creation or removal of a file is durable only after the folder was synced.
/// - A failed sync makes each write either durable or lost: the next sync does not retry it, and reads still see it. Linux
///   behaves in the same way.
package final class SimulatedFileSystem: FileSystem {
    package struct Content {
        package var current: [UInt8] = []
        package var durable: [UInt8] = []
        package var pending: [Change] = []
    }

    package enum Change {
        case write(offset: Int, bytes: [UInt8])
        case truncate(size: Int)
    }

    package struct State {
        package var files: [String: Int] = [:]
        package var durableFiles: [String: Int] = [:]
        package var contents: [Content] = []
        package var random: SeededGenerator
        /// How many of 1,000 calls fail.
        package var failures = 0
        /// How many of 1,000 reads fail.
        package var readFailures = 0
        /// How many of the next writes fail.
        package var failingWrites = 0
        /// Whether syncs of files fail.
        package var failsSyncs = false
        /// Whether syncs of the folder fail.
        package var failsFolderSyncs = false
        /// Whether reads no longer see the writes that a failed sync has lost.
        package var forgetsUnsynced = false
        package var free = Int.max
        /// The files whose reads fail.
        package var unreadable: Set<String> = []
        /// Whether listing the folder fails.
        package var failsListing = false
        /// The number of bytes read from each file.
        package var bytesRead: [String: Int] = [:]
        /// The offset up to which the memory of each file was released.
        package var released: [String: Int] = [:]
    }

    private let state: Mutex<State>
    /// The gate at which syncs hang while it is closed.
    package let syncs = Gate()
    /// The gate at which writes to segments hang while it is closed.
    package let writes = Gate()

    package init(seed: UInt64) {
        state = Mutex(State(random: SeededGenerator(seed: seed)))
    }

    private init(state: State) {
        self.state = Mutex(state)
    }

    /// The state after a crash at this moment, as a copy; this file system continues.
    package func crashedCopy() -> SimulatedFileSystem {
        let copy = SimulatedFileSystem(state: withState { $0 })
        copy.crash()
        copy.setFailures(0)
        return copy
    }

    package func withState<Result: Sendable>(_ body: (inout sending State) -> sending Result) -> Result {
        state.withLock { body(&$0) }
    }

    package func setReadFailures(_ perMille: Int) { withState { $0.readFailures = perMille } }

    package func failSyncs(_ fails: Bool = true) { withState { $0.failsSyncs = fails } }

    package func setFailures(_ perMille: Int) { withState { $0.failures = perMille } }

    /// The number of bytes of a file that `body` reads.
    package func bytesRead(of name: String, _ body: () throws -> Void) rethrows -> Int {
        let before = withState { $0.bytesRead[name] ?? 0 }
        try body()
        return withState { $0.bytesRead[name] ?? 0 } - before
    }

    /// The offset up to which the memory of a file was released.
    package func releasedBytes(of name: String) -> Int { withState { $0.released[name] ?? 0 } }

    /// Whether a crash now could lose data that was written to a segment.
    package var hasUnsyncedWrites: Bool {
        withState { state in
            state.files.contains { $0.key.hasSuffix(".segment") && !state.contents[$0.value].pending.isEmpty }
        }
    }

    /// The bytes of a file as a reader sees them now.
    package subscript(name: String) -> [UInt8]? {
        get { withState { state in state.files[name].map { state.contents[$0].current } } }
        set {
            withState { state in
                guard let newValue else { return state.files[name] = nil }
                state.contents.append(Content(current: newValue, durable: newValue))
                state.files[name] = state.contents.count - 1
                state.durableFiles[name] = state.contents.count - 1
            }
        }
    }

    /// Discards unsynced changes.
    package func crash() {
        withState { state in
            for name in Set(state.files.keys).union(state.durableFiles.keys).sorted()
            where state.files[name] != state.durableFiles[name] && Bool.random(using: &state.random) {
                state.durableFiles[name] = state.files[name]
            }
            for index in state.contents.indices {
                for change in state.contents[index].pending {
                    Self.applyInPart(change, to: &state.contents[index].durable, &state.random)
                }
                state.contents[index].pending = []
                state.contents[index].current = state.contents[index].durable
            }
            state.files = state.durableFiles
        }
    }

    private static func applyInPart(_ change: Change, to bytes: inout [UInt8], _ random: inout SeededGenerator) {
        switch (change, Int.random(in: 0..<3, using: &random)) {
        case (_, 0): break
        case (.write(let offset, let written), 1):
            for start in stride(from: 0, to: written.count, by: 512) where Bool.random(using: &random) {
                let end = min(start + 512, written.count)
                apply(.write(offset: offset + start, bytes: Array(written[start..<end])), to: &bytes)
            }
        default: apply(change, to: &bytes)
        }
    }

    private static func apply(_ change: Change, to bytes: inout [UInt8]) {
        switch change {
        case .write(let offset, let written):
            if bytes.count < offset + written.count {
                bytes += [UInt8](repeating: 0, count: offset + written.count - bytes.count)
            }
            bytes.replaceSubrange(offset..<offset + written.count, with: written)
        case .truncate(let size):
            if bytes.count > size { bytes.removeLast(bytes.count - size) }
        }
    }

    private func fails(_ state: inout State) -> Bool {
        state.failures > 0 && Int.random(in: 0..<1000, using: &state.random) < state.failures
    }

    // MARK: FileSystem

    package func names() throws(FileError) -> [String] {
        let names: [String]? = withState { $0.failsListing ? nil : Array($0.files.keys) }
        guard let names else { throw FileError("list", ".", 5) }
        return names
    }

    package func create(_ name: String) throws(FileError) -> any JournalFile {
        if withState({ $0.files[name] != nil }) { throw FileError("open", name, 17) }
        return try open(name, creates: true)
    }

    package func open(_ name: String, creates: Bool) throws(FileError) -> any JournalFile {
        let index: Int? = withState { state in
            if let index = state.files[name] { return index }
            guard creates, !fails(&state) else { return nil }
            state.contents.append(Content())
            state.files[name] = state.contents.count - 1
            return state.contents.count - 1
        }
        guard let index else { throw FileError("open", name, creates ? 28 : 2) }
        return File(system: self, index: index, name: name)
    }

    package func remove(_ name: String) throws(FileError) {
        withState { $0.files[name] = nil }
    }

    package func rename(_ name: String, to other: String) throws(FileError) {
        let failed = withState { state in
            guard !fails(&state), let index = state.files.removeValue(forKey: name) else { return true }
            state.files[other] = index
            return false
        }
        if failed { throw FileError("rename", name, 5) }
    }

    /// No file is ever old.
    package func modificationTime(of name: String) throws(FileError) -> Int64 { .max }

    package func syncFolder() throws(FileError) {
        let failed = withState { state in
            if state.failsFolderSyncs || fails(&state) { return true }
            state.durableFiles = state.files
            return false
        }
        if failed { throw FileError("sync", ".", 5) }
    }

    package func freeBytes() throws(FileError) -> Int { withState { $0.free } }

    package final class File: JournalFile {
        private let system: SimulatedFileSystem
        private let index: Int
        private let name: String

        package init(system: SimulatedFileSystem, index: Int, name: String) {
            self.system = system
            self.index = index
            self.name = name
        }

        package func size() throws(FileError) -> Int {
            system.withState { [index] in $0.contents[index].current.count }
        }

        package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(FileError) -> Int {
            let size = buffer.count
            let fails = system.withState { [name] state in
                state.unreadable.contains(name) || Int.random(in: 0..<1000, using: &state.random) < state.readFailures
            }
            if fails { throw FileError("read", name, 5) }
            let bytes = system.withState { [index] in Array($0.contents[index].current.dropFirst(offset).prefix(size)) }
            buffer.copyBytes(from: bytes)
            system.withState { [name] in $0.bytesRead[name, default: 0] += bytes.count }
            return bytes.count
        }

        package func write(_ parts: [UnsafeRawBufferPointer], at offset: Int) throws(FileError) {
            if name.hasSuffix(".segment") { system.writes.pass() }
            let bytes = parts.flatMap { Array($0) }
            let failed = system.withState { [index, system] state in
                let fails = state.failingWrites > 0 || system.fails(&state)
                state.failingWrites = max(0, state.failingWrites - 1)
                // A write that fails writes at least one byte less, because the system reports success for the last byte.
                let count = fails ? Int.random(in: 0..<max(1, bytes.count), using: &state.random) : bytes.count
                let change = Change.write(offset: offset, bytes: Array(bytes[..<count]))
                SimulatedFileSystem.apply(change, to: &state.contents[index].current)
                state.contents[index].pending.append(change)
                return fails
            }
            if failed { throw FileError("write", name, 28) }
        }

        package func sync() throws(FileError) {
            system.syncs.pass()
            let failed = system.withState { [index, system] state in
                let fails = state.failsSyncs || system.fails(&state)
                var content = state.contents[index]
                for change in content.pending where !fails || Bool.random(using: &state.random) {
                    SimulatedFileSystem.apply(change, to: &content.durable)
                }
                content.pending = []
                if fails, state.forgetsUnsynced { content.current = content.durable }
                state.contents[index] = content
                return fails
            }
            if failed { throw FileError("sync", name, 5) }
        }

        package func releaseMemory(before offset: Int) {
            system.withState { [name, index] state in
                let isSynced = state.contents[index].pending.allSatisfy { change in
                    if case .write(let start, _) = change { start >= offset } else { true }
                }
                precondition(isSynced, "memory is released of what is not synced")
                state.released[name] = max(state.released[name] ?? 0, offset)
            }
        }

        package func truncate(to size: Int) throws(FileError) {
            let failed = system.withState { [index, system] state in
                if system.fails(&state) { return true }
                SimulatedFileSystem.apply(.truncate(size: size), to: &state.contents[index].current)
                state.contents[index].pending.append(.truncate(size: size))
                return false
            }
            if failed { throw FileError("truncate", name, 5) }
        }
    }
}
