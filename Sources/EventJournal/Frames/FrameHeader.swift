package import EventModel

/// The header of a frame, which precedes the lines of one commit: 56 bytes, numbers in little-endian order.
///
/// | offset | bytes | content |
/// |---|---|---|
/// | 0 | 4 | `SLJ` and a newline |
/// | 4 | 1 | the format's version, 1 or 2; in version 2, the plan's digest (16 bytes) precedes the lines |
/// | 5 | 1 | the kind: 0 events, 1 the end of a segment |
/// | 6 | 2 | flags: 1 if the commit was synced before it was acknowledged |
/// | 8 | 8 | the sequence number of the first event; in an end frame, that of the next event |
/// | 16 | 4 | number of events |
/// | 20 | 4 | size of the lines that follow, in bytes |
/// | 24 | 8 | time of the commit, in microseconds since 1970; in an end frame, that of the last commit |
/// | 32 | 8 | earliest time of the events, in microseconds since 1970; in an end frame, of the whole segment |
/// | 40 | 8 | latest time, likewise |
/// | 48 | 4 | CRC-32C of what follows the header |
/// | 52 | 4 | CRC-32C of the preceding 52 bytes |
///
/// In a journal's last segment, zeros can follow a synced frame: bytes that were preallocated for the next ones.
///
/// The end frame has version 2 if any frame of its segment has, and holds no digest. A program that knows only version 1 recognizes a
/// frame of version 2 as intact but newer: it refuses to open the journal, and changes nothing in it.
package struct FrameHeader: Sendable, Hashable {
    /// The kind of a frame.
    package enum Kind: UInt8, Sendable {
        /// It holds events.
        case events = 0
        /// It ends a segment: no frame follows.
        case end = 1
    }

    /// Why bytes are not a valid header.
    package enum Flaw: Error, Hashable {
        /// The magic number is missing.
        case noMagic
        /// The checksum is wrong, or a number is out of range.
        case checksum
        /// The header is intact, and its format needs a newer version of the program.
        case newerFormat(UInt8)
        /// The header is intact, and its kind is unknown.
        case unknownKind(UInt8)
    }

    /// The size of a header, in bytes.
    package static let byteCount = 56
    /// The magic number, its first four bytes.
    static let magic: UInt32 = 0x0A4A_4C53
    /// The versions of the format: without and with a plan's digest.
    static let (plainVersion, digestVersion): (UInt8, UInt8) = (1, 2)

    /// The maximum valid sequence number; larger ones are damage.
    static let maximumSequence = UInt64.max >> 1

    package var kind = Kind.events
    /// Whether its commit was synced before it was acknowledged.
    package var isSynced = true
    package var firstSequence: UInt64
    package var count = 0
    /// The size of the lines, in bytes.
    package var payloadBytes = 0
    /// Microseconds since 1970.
    package var committedAt: Int64
    package var earliest: Int64 = .max
    package var latest: Int64 = .min
    package var payloadChecksum: UInt32 = 0
    /// The format's version.
    var version = plainVersion
    /// The plan that all the events follow; `nil` if it is unknown, or if only the header was read.
    package var planDigest: PlanDigest? {
        didSet { if planDigest != nil { version = Self.digestVersion } }
    }
    /// Whether the digest of a plan precedes the lines.
    var hasPlanDigest: Bool { version == Self.digestVersion && kind == .events }

    /// The sequence number after its last event.
    package var nextSequence: UInt64 { firstSequence &+ UInt64(count) }
    /// The size of what precedes the lines, in bytes.
    var prefixBytes: Int { Self.byteCount + (hasPlanDigest ? PlanDigest.byteCount : 0) }
    /// The size of the whole frame, in bytes.
    package var frameBytes: Int { prefixBytes + payloadBytes }

    /// Writes the header to memory of at least `byteCount` bytes.
    func write(to bytes: UnsafeMutableRawBufferPointer) {
        func store(_ value: some FixedWidthInteger, at offset: Int) {
            bytes.storeBytes(of: value.littleEndian, toByteOffset: offset, as: type(of: value.littleEndian))
        }
        store(Self.magic, at: 0)
        store(version, at: 4)
        store(kind.rawValue, at: 5)
        store(UInt16(isSynced ? 1 : 0), at: 6)
        store(firstSequence, at: 8)
        store(UInt32(truncatingIfNeeded: count), at: 16)
        store(UInt32(truncatingIfNeeded: payloadBytes), at: 20)
        store(committedAt, at: 24)
        store(earliest, at: 32)
        store(latest, at: 40)
        store(payloadChecksum, at: 48)
        store(Checksum.of(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<52])), at: 52)
    }

    /// Reads a header at an offset of a file; `nil` if there is no valid one.
    static func read(_ file: any JournalFile, at offset: Int) throws(FileError) -> FrameHeader? {
        try withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 8) { bytes throws(FileError) in
            let count = try file.read(into: bytes, at: offset)
            return try? read(UnsafeRawBufferPointer(rebasing: bytes[..<count])).get()
        }
    }

    /// Reads a header from at least `byteCount` bytes.
    package static func read(_ bytes: UnsafeRawBufferPointer) -> Result<FrameHeader, Flaw> {
        func load<Value: FixedWidthInteger>(_ type: Value.Type, at offset: Int) -> Value {
            Value(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
        }
        guard bytes.count >= byteCount, load(UInt32.self, at: 0) == magic else { return .failure(.noMagic) }
        guard load(UInt32.self, at: 52) == Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[..<52])) else {
            return .failure(.checksum)
        }
        guard (plainVersion...digestVersion).contains(bytes[4]) else { return .failure(.newerFormat(bytes[4])) }
        guard load(UInt64.self, at: 8) <= maximumSequence else { return .failure(.checksum) }
        guard let kind = Kind(rawValue: bytes[5]) else { return .failure(.unknownKind(bytes[5])) }
        var header = FrameHeader(firstSequence: load(UInt64.self, at: 8), committedAt: load(Int64.self, at: 24))
        header.kind = kind
        header.version = bytes[4]
        header.isSynced = load(UInt16.self, at: 6) & 1 == 1
        header.count = Int(load(UInt32.self, at: 16))
        header.payloadBytes = Int(load(UInt32.self, at: 20))
        header.earliest = load(Int64.self, at: 32)
        header.latest = load(Int64.self, at: 40)
        header.payloadChecksum = load(UInt32.self, at: 48)
        return .success(header)
    }
}
