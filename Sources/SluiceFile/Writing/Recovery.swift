import EventModel
import Gzip

/// What a crash left of an unfinished file: its whole part, and what the file would have been called.
struct Recovery {
    private static let chunkBytes = 256 << 10
    private static let gzipMagic: [UInt8] = [0x1F, 0x8B]
    /// More than the longest envelope.
    private static let maximumLineBytes = 64 << 10

    /// The number of bytes up to the end of the last whole member of gzip, or of the last whole line.
    private(set) var size = 0
    let isCompressed: Bool
    /// Whether what follows is not the beginning of a member of gzip: a power failure leaves such bytes, and so does a failing disk.
    private(set) var isDamaged = false
    /// The beginning of the first line.
    private var firstLine: [UInt8] = []

    /// Reads a file.
    ///
    /// - Throws: `GzipError` with `outOfMemory`, `SystemFailure`.
    init(of file: Descriptor) throws {
        var magic: [UInt8] = [0, 0]
        let count = try magic.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        isCompressed = count == magic.count && magic == Self.gzipMagic
        if isCompressed { try readMembers(of: file) } else { try readLines(of: file) }
    }

    /// What the file is called; `nil` if its first line is not that of an event.
    func target(_ paths: FilePaths) -> FileTarget? {
        firstLine.withUnsafeBytes { bytes in
            guard let line = CanonicalLine(bytes) else { return nil }
            let time = String(decoding: line.rawText(of: line.range(of: paths.pathTime)), as: UTF8.self)
            return paths.target(event: line.text(of: line.name), time: time).matching(isCompressed: isCompressed)
        }
    }

    /// A target for a file without a whole event, which is removed; `nil` if it has one.
    var emptyTarget: FileTarget? { size == 0 ? FileTarget(folders: [], stem: "", suffix: "") : nil }

    private mutating func readLines(of file: Descriptor) throws {
        try Self.forEachChunk(of: file) { chunk, offset in
            note(chunk)
            if let end = chunk.lastIndex(of: UInt8(ascii: "\n")) { size = offset + end + 1 }
            return true
        }
    }

    private mutating func readMembers(of file: Descriptor) throws {
        var inflater = try GzipInflater(stopsAfterMembers: true)
        let output = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.chunkBytes, alignment: 16)
        defer { output.deallocate() }
        try Self.forEachChunk(of: file) { chunk, offset in
            var rest = chunk
            do throws(GzipError) {
                var written = 0
                repeat {
                    written = try inflater.inflate(&rest, into: output)
                    note(UnsafeRawBufferPointer(rebasing: output[..<written]))
                    if inflater.isBetweenMembers { size = offset + chunk.count - rest.count }
                } while !rest.isEmpty || written == output.count
            } catch {
                // Damage is where the crash interrupted the writing.
                guard error.code == .corrupt else { throw error }
                isDamaged = true
                return false
            }
            return true
        }
    }

    /// Keeps the beginning of the first line.
    private mutating func note(_ bytes: UnsafeRawBufferPointer) {
        guard firstLine.count < Self.maximumLineBytes, firstLine.last != UInt8(ascii: "\n") else { return }
        let end = bytes.firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count
        firstLine.append(contentsOf: bytes[..<end].prefix(Self.maximumLineBytes - firstLine.count))
    }

    /// Reads a file to its end, or until `body` returns false.
    private static func forEachChunk(
        of file: Descriptor,
        _ body: (_ chunk: UnsafeRawBufferPointer, _ offset: Int) throws -> Bool
    ) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: chunkBytes, alignment: 16)
        defer { buffer.deallocate() }
        var offset = 0
        while true {
            let count = try file.read(into: buffer, at: offset)
            guard count > 0, try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]), offset) else { return }
            offset += count
        }
    }
}
