import Foundation
import Gzip
import SystemPackage
import TrackerKit

/// The lines of a file or of standard input, in chunks that end where a line ends; gzip is inflated on the way.
///
/// Memory stays flat: a chunk is a quarter of a mebibyte, and grows only for a line that is longer, up to 8 MiB; a line
/// beyond that is cut off there, and its check rejects it as too large.
///
/// A file is read up to the length it has when it is opened: one that grows meanwhile, as the quarantine does when what
/// it holds is rejected again, comes to an end all the same.
final class ReplaySource: ReplayInput {
    private static let chunkBytes = 256 << 10
    /// Above what an event may take, and above what the quarantine makes of one.
    private static let maximumLineBytes = 8 << 20

    private static let gzipMagic: [UInt8] = [0x1F, 0x8B]
    private static let stopCheckInMilliseconds: Int32 = 100

    private let descriptor: FileDescriptor
    private let stop: Interrupt
    /// How much of a file is yet to be read; `nil` for a pipe, which has no length.
    private var remaining: Int?
    private var inflater: GzipInflater?
    /// What was read but not inflated yet.
    private var compressed: [UInt8] = []
    /// The start of a line whose end has not been read.
    private var rest: [UInt8] = []
    private var isSkippingLongLine = false
    private var isAtEnd = false
    /// How many bytes of the file were read, for the progress.
    private(set) var bytesRead = 0

    /// Opens a file, or standard input for `-`.
    ///
    /// - Throws: `Errno`, here and when it is read.
    init(path: String, stop: Interrupt) throws {
        self.stop = stop
        descriptor = path == "-" ? .standardInput : try .open(FilePath(path), .readOnly)
        remaining = Self.length(of: descriptor)
        var start = try read()
        while start.count < Self.gzipMagic.count, !isAtEnd { start += try read() }
        if start.starts(with: Self.gzipMagic) {
            inflater = try GzipInflater()
            compressed = start
        } else {
            rest = start
        }
    }

    deinit {
        if descriptor != .standardInput { try? descriptor.close() }
    }

    /// The next whole lines; `nil` after the last, and when nothing more shall be read.
    func next() throws -> [UInt8]? {
        while !stop.isRaised {
            if let end = rest.lastIndex(of: UInt8(ascii: "\n")) {
                let lines = Array(rest[...end])
                rest.removeFirst(end + 1)
                return lines
            }
            if isAtEnd {
                defer { rest.removeAll() }
                return rest.isEmpty ? nil : rest
            }
            try append(readPlain())
        }
        return nil
    }

    func takeFailures() -> [String] { [] }

    private func append(_ bytes: [UInt8]) throws {
        guard rest.count <= Self.maximumLineBytes, !isSkippingLongLine else {
            // The line's beginning already is too large; what follows up to its end only takes memory.
            isSkippingLongLine = true
            if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                isSkippingLongLine = false
                rest += bytes[end...]
            }
            return
        }
        rest += bytes
    }

    /// Some more bytes, inflated; none at the end, which `isAtEnd` tells.
    private func readPlain() throws -> [UInt8] {
        guard inflater != nil else { return try read() }
        if compressed.isEmpty { compressed = try read() }
        if isAtEnd, compressed.isEmpty {
            try inflater?.finish()
            return []
        }
        var output = [UInt8](repeating: 0, count: Self.chunkBytes)
        let (consumed, written) = try compressed.withUnsafeBytes { input in
            var remaining = input
            let written = try output.withUnsafeMutableBytes { try inflater?.inflate(&remaining, into: $0) ?? 0 }
            return (input.count - remaining.count, written)
        }
        compressed.removeFirst(consumed)
        output.removeLast(output.count - written)
        return output
    }

    private func read() throws -> [UInt8] {
        try waitForInput()
        let wanted = min(Self.chunkBytes, remaining ?? .max)
        let bytes =
            try stop.isRaised
            ? []
            : [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
                count = try descriptor.read(into: UnsafeMutableRawBufferPointer(buffer))
            }
        if bytes.isEmpty { isAtEnd = true }
        bytesRead += bytes.count
        remaining = remaining.map { $0 - bytes.count }
        return bytes
    }

    /// Returns when there is something to read, or nothing more shall be.
    private func waitForInput() throws {
        var request = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
        while !stop.isRaised, poll(&request, 1, Self.stopCheckInMilliseconds) == 0 {}
    }

    /// How many bytes there are from here to the end; `nil` for what has none, such as a pipe.
    private static func length(of descriptor: FileDescriptor) -> Int? {
        guard let here = try? descriptor.seek(offset: 0, from: .current),
            let end = try? descriptor.seek(offset: 0, from: .end),
            (try? descriptor.seek(offset: here, from: .start)) != nil, end > here
        else { return nil }
        return Int(end - here)
    }
}
