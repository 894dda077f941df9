import EventModel
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The queue on disk: a folder with a file for each batch, whose name is the batch's number.
///
/// A batch is a file of whole lines that grows until it is full or is sent, and is removed once the server has settled its events.
/// What `append` has written survives the end of the process, however it ends. A power failure may take what the system had not
/// written to the disk yet.
package struct QueueFolder {
    /// The limits of the queue.
    package struct Limits: Sendable, Hashable {
        package var capacityInBytes: Int
        package var maximumBatchEvents: Int
        package var maximumBatchBytes: Int

        package init(capacityInBytes: Int, maximumBatchEvents: Int, maximumBatchBytes: Int) {
            self.capacityInBytes = capacityInBytes
            self.maximumBatchEvents = maximumBatchEvents
            self.maximumBatchBytes = maximumBatchBytes
        }
    }

    private static let fileExtension = ".ndjson"

    /// One batch.
    package struct Batch: Sendable, Hashable {
        package let number: UInt64
        package var events: Int
        package var bytes: Int
    }

    private let path: String
    private let limits: Limits
    private let lock: OpenFile
    /// All batches, oldest first; only the last may be open.
    package private(set) var batches: [Batch] = []
    /// The file of the open batch, to which events are appended; `nil` if there is none.
    private var open: OpenFile?
    private var nextNumber: UInt64 = 1

    /// The size of all events, in bytes.
    package var byteCount: Int { batches.reduce(0) { $0 + $1.bytes } }

    /// Whether more events may be appended to the oldest batch.
    package var mayGrow: Bool {
        guard open != nil, batches.count == 1, let batch = batches.first else { return false }
        return batch.events < limits.maximumBatchEvents
    }

    /// Opens the folder, which is created if it does not exist, and cuts off what a killed process did not finish writing.
    ///
    /// - Throws: `locked` if another process uses the folder; `unusable` if it cannot be read or written.
    package init(path: String, limits: Limits) throws(ClientError) {
        self.path = path
        self.limits = limits
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw ClientError(.unusable, "The folder '\(path)' cannot be created: \(error.localizedDescription)")
        }
        lock = try OpenFile("lock", in: path, O_RDWR | O_CREAT)
        guard flock(lock.descriptor, LOCK_EX | LOCK_NB) == 0 else {
            guard errno == EWOULDBLOCK else { throw .unusable("lock", "lock", in: path) }
            throw ClientError(.locked, "Another process uses the folder '\(path)'.")
        }
        for number in try Self.numbers(in: path) {
            nextNumber = number + 1
            let batch = try Self.recover(number, in: path)
            if let batch { batches.append(batch) }
        }
    }

    // MARK: Changing the queue

    /// Appends an event, which is given with its newline; returns whether it is the first of its batch.
    ///
    /// - Throws: `full` if the queue has no room for it; `unusable` if it cannot be written. The queue is unchanged then.
    @discardableResult
    package mutating func append(_ line: [UInt8]) throws(ClientError) -> Bool {
        guard byteCount + line.count <= limits.capacityInBytes else {
            throw ClientError(.full, "The queue in '\(path)' has no room for another event.")
        }
        if let open, let batch = batches.last, !hasRoom(batch, for: line.count) || open.isRemoved { seal() }
        let file = if let open { open } else { try begin() }
        let last = batches.count - 1
        guard write(file.descriptor, line, line.count) == line.count else {
            let error = ClientError.unusable("write", Self.name(batches[last].number), in: path)
            // A part of a line must not precede the next one.
            if batches[last].events == 0 {
                try? removeLast()
            } else if ftruncate(file.descriptor, off_t(batches[last].bytes)) != 0 {
                seal()
            }
            throw error
        }
        batches[last].events += 1
        batches[last].bytes += line.count
        return batches[last].events == 1
    }

    /// Lets no more events be appended to the batch that is open.
    package mutating func seal() {
        open = nil
    }

    /// The lines of the oldest batch; `nil` if its file was removed or shortened, so `repairFirst` has to be called.
    ///
    /// - Throws: `unusable` if it cannot be read.
    package func contentsOfFirst() throws(ClientError) -> [UInt8]? {
        let batch = batches[0]
        do throws(RegularFile.Failure) {
            let contents = try RegularFile.contents(own: file(batch.number))
            return contents.count < batch.bytes ? nil : Array(contents.prefix(batch.bytes))
        } catch {
            if error.isMissing { return nil }
            throw .unusable("read", Self.name(batch.number), in: path, because: error)
        }
    }

    /// Keeps what is left of the oldest batch, whose file was removed or shortened; returns the number of events that are lost.
    ///
    /// - Throws: `unusable` if its file cannot be read or written.
    package mutating func repairFirst() throws(ClientError) -> Int {
        if batches.count == 1 { seal() }
        let damaged = batches[0]
        let isRemoved = access(file(damaged.number), F_OK) != 0 && errno == ENOENT
        let rest = isRemoved ? nil : try Self.recover(damaged.number, in: path)
        batches.replaceSubrange(0..<1, with: rest.map { [$0] } ?? [])
        return damaged.events - (rest?.events ?? 0)
    }

    /// Removes the oldest batch, whose events are settled.
    ///
    /// - Throws: `unusable` if its file cannot be removed; then the next process sends its events again.
    package mutating func removeFirst() throws(ClientError) {
        if batches.count == 1 { seal() }
        try removeFile(batches.removeFirst().number)
    }

    private mutating func removeLast() throws(ClientError) {
        seal()
        try removeFile(batches.removeLast().number)
    }

    private func removeFile(_ number: UInt64) throws(ClientError) {
        guard unlink(file(number)) == 0 || errno == ENOENT else {
            throw .unusable("remove", Self.name(number), in: path)
        }
    }

    private func hasRoom(_ batch: Batch, for bytes: Int) -> Bool {
        batch.events < limits.maximumBatchEvents && batch.bytes + bytes <= limits.maximumBatchBytes
    }

    private mutating func begin() throws(ClientError) -> OpenFile {
        let number = nextNumber
        let file = try OpenFile(Self.name(number), in: path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND)
        open = file
        nextNumber += 1
        batches.append(Batch(number: number, events: 0, bytes: 0))
        return file
    }

    // MARK: Files

    private func file(_ number: UInt64) -> String { path + "/" + Self.name(number) }

    private static func name(_ number: UInt64) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 20 - digits.count) + digits + fileExtension
    }

    /// The numbers of all batches, ascending.
    private static func numbers(in path: String) throws(ClientError) -> [UInt64] {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: path)
                .filter { $0.hasSuffix(fileExtension) }
                .compactMap { UInt64($0.dropLast(fileExtension.count)) }
                .sorted()
        } catch {
            throw ClientError(.unusable, "The folder '\(path)' cannot be read: \(error.localizedDescription)")
        }
    }

    /// Cuts off a line without a newline, and returns the batch; `nil` if nothing is left of it.
    private static func recover(_ number: UInt64, in path: String) throws(ClientError) -> Batch? {
        let file = path + "/" + name(number)
        let contents: [UInt8]
        do throws(RegularFile.Failure) {
            contents = try RegularFile.contents(own: file)
        } catch {
            throw .unusable("read", name(number), in: path, because: error)
        }
        let newline = UInt8(ascii: "\n")
        let end = contents.lastIndex(of: newline).map { $0 + 1 } ?? 0
        if end < contents.count {
            let open = try OpenFile(name(number), in: path, O_WRONLY)
            guard ftruncate(open.descriptor, off_t(end)) == 0 else {
                throw .unusable("write", name(number), in: path)
            }
        }
        guard end > 0 else {
            _ = unlink(file)
            return nil
        }
        return Batch(number: number, events: contents.prefix(end).count { $0 == newline }, bytes: end)
    }
}

/// An open file, which is closed when this object is released.
private final class OpenFile: Sendable {
    let descriptor: Int32

    /// - Throws: `unusable` if the file cannot be opened.
    init(_ name: String, in folder: String, _ flags: Int32) throws(ClientError) {
        do throws(RegularFile.Failure) {
            descriptor = try RegularFile.open(own: folder + "/" + name, flags)
        } catch {
            throw .unusable("open", name, in: folder, because: error)
        }
    }

    /// Whether the file's name is gone, so that no one will find what is written to it.
    var isRemoved: Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_nlink == 0
    }

    deinit {
        // Closing is not enough: a child process that is being started has a copy of the descriptor until it calls exec.
        _ = flock(descriptor, LOCK_UN)
        _ = close(descriptor)
    }
}
