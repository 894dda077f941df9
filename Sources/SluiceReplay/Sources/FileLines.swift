import EventValidation
import Foundation
import Gzip
package import SystemPackage
package import TrackerKit

/// Reads a file or standard input in chunks of whole lines, and inflates gzip.
///
/// A chunk has 256 KiB, or the length of a longer line, up to 8 MiB. A line beyond that is truncated, and the validator
/// rejects it as too large.
///
/// A file is read up to the length that it has when it is opened, so that a file that grows meanwhile comes to an end.
package final class FileLines {
    private static let chunkBytes = 256 << 10
    /// More than the maximum size of an event, and of its record in a quarantine.
    private static let maximumLineBytes = 8 << 20

    private static let gzipMagic: [UInt8] = [0x1F, 0x8B]
    private static let stopCheckInMilliseconds: Int32 = 100

    private let descriptor: FileDescriptor
    private let isStandardInput: Bool
    private let stop: Interrupt
    /// The number of bytes of the file not read yet; `nil` for a pipe, which has no length.
    private var remaining: Int?
    private var inflater: GzipInflater?
    /// Bytes that were read and not inflated yet.
    private var compressed: [UInt8] = []
    /// The beginning of a line whose end has not been read.
    private var rest: [UInt8] = []
    private var isSkippingLongLine = false
    private var isAtEnd = false
    /// Whether the next lines are the first ones, before which there may be a byte order mark.
    private var isAtStart = true
    /// The number of bytes of the file that were read.
    package private(set) var bytesRead = 0

    /// Opens a file; `nil` for standard input, which stays open.
    ///
    /// - Throws: `Errno`, here and in `next`.
    package init(path: String?, standardInput: FileDescriptor = .standardInput, stop: Interrupt) throws {
        self.stop = stop
        isStandardInput = path == nil
        descriptor = try path.map { try .open(FilePath($0), .readOnly) } ?? standardInput
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
        if !isStandardInput { try? descriptor.close() }
    }

    /// The next whole lines, without a byte order mark at the beginning; `nil` after the last, and after an interrupt.
    ///
    /// - Throws: Also `MalformedBody` if the file begins with the byte order mark of another encoding than UTF-8.
    package func next() throws -> [UInt8]? {
        guard var lines = try readLines() else { return nil }
        if isAtStart {
            isAtStart = false
            let count = try lines.withUnsafeBytes { try $0.withoutByteOrderMark().count }
            lines.removeFirst(lines.count - count)
        }
        return lines
    }

    private func readLines() throws -> [UInt8]? {
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

    private func append(_ bytes: [UInt8]) throws {
        guard rest.count <= Self.maximumLineBytes, !isSkippingLongLine else {
            // The beginning is too large already; the rest of the line would only take memory.
            isSkippingLongLine = true
            if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                isSkippingLongLine = false
                rest += bytes[end...]
            }
            return
        }
        rest += bytes
    }

    /// The next bytes, inflated; none at the end, where `isAtEnd` becomes true.
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

    /// Returns when there is input, or after an interrupt.
    private func waitForInput() throws {
        var request = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
        while !stop.isRaised, poll(&request, 1, Self.stopCheckInMilliseconds) == 0 {}
    }

    /// The number of bytes from the current position to the end; `nil` for a pipe.
    private static func length(of descriptor: FileDescriptor) -> Int? {
        guard let here = try? descriptor.seek(offset: 0, from: .current),
            let end = try? descriptor.seek(offset: 0, from: .end),
            (try? descriptor.seek(offset: here, from: .start)) != nil, end > here
        else { return nil }
        return Int(end - here)
    }
}
