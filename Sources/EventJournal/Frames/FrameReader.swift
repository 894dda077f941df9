import EventModel

/// Reads the frames of one segment, and finds valid frames after damaged ones.
package struct FrameReader: ~Copyable {
    /// The next part of the segment.
    package enum Step {
        /// A frame and its lines, which are valid until the next call.
        case frame(FrameHeader, lines: UnsafeRawBufferPointer)
        /// A frame outside the selection: its header is valid, and its lines were not read.
        case passed(FrameHeader)
        /// Bytes that are not a valid frame, up to the next frame or the end.
        case damage(Damage)
        /// The end of the segment.
        case end
    }

    /// The maximum size of a frame's lines, in bytes; a larger size is damage.
    package static let maximumPayloadBytes = 64 << 20
    private static let windowBytes = 1 << 20
    /// How much is read to look at a header: several small frames, and little of a large one.
    private static let hopBytes = 4 << 10

    private let file: any JournalFile
    private let name: String
    /// The end of the readable bytes.
    private let limit: Int
    /// The offset after the last byte that is not zero; `limit` if the file cannot have preallocated zeros.
    private let written: Int
    /// Whether the last frame was synced, so that zeros after it can be preallocated.
    private var isSynced = false
    private let selection: FrameSelection?
    private var window: UnsafeMutableRawBufferPointer
    /// The range of the file that the window holds.
    private var windowRange = 0..<0

    /// The offset of the next part.
    package private(set) var offset: Int

    /// Starts at the offset of a frame, and reads up to `end`; without a selection it reads every frame.
    package init(
        _ file: any JournalFile,
        name: String,
        from offset: Int = 0,
        to end: Int,
        selecting selection: FrameSelection? = nil
    ) {
        self.file = file
        self.name = name
        self.offset = offset
        limit = end
        written = end
        self.selection = selection
        window = .allocate(byteCount: Self.windowBytes, alignment: 16)
    }

    /// Reads the last segment of a journal up to its current end; without a selection it reads every frame.
    ///
    /// Its writer may have preallocated zeros after a synced frame, which are not damage.
    package init(
        last file: any JournalFile,
        name: String,
        selecting selection: FrameSelection? = nil
    ) throws(FileError) {
        let size = try file.size()
        let written: Int
        do throws(FileError) {
            written = try file.endWithoutZeros(before: size)
        } catch {
            guard error.isMediaError else { throw error }
            // The frames before the bad sector can be read all the same.
            written = size
        }
        self.file = file
        self.name = name
        offset = 0
        limit = size
        self.written = written
        self.selection = selection
        window = .allocate(byteCount: Self.windowBytes, alignment: 16)
    }

    deinit {
        window.deallocate()
    }

    /// Reads the next frame, or finds damage.
    ///
    /// - Throws: If the file cannot be read.
    package mutating func next() throws(FileError) -> Step {
        guard !isAtEnd else { return .end }
        if let header = try unwantedFrame() {
            offset += header.frameBytes
            isSynced = header.isSynced
            return .passed(header)
        }
        switch try frame(at: offset) {
        case .success(let header):
            let lines = try bytes(offset + header.prefixBytes, header.payloadBytes)
            offset += header.frameBytes
            isSynced = header.isSynced
            return .frame(header, lines: lines ?? UnsafeRawBufferPointer(start: nil, count: 0))
        case .failure(let flaw):
            let start = offset
            offset = try nextFrame(after: start, flaw)
            return .damage(Damage(segment: name, offset: start, byteCount: offset - start, flaw: flaw))
        }
    }

    /// Whether nothing is left to read.
    var isAtEnd: Bool { offset >= end }

    /// Frames begin before it, and damage ends at it; a frame that ends with zeros can extend past it.
    private var end: Int { isSynced ? written : limit }

    /// The header of a frame outside the selection; `nil` if the frame is selected or damaged.
    private mutating func unwantedFrame() throws(FileError) -> FrameHeader? {
        guard let selection,
            let head = try bytes(offset, FrameHeader.byteCount, readingAhead: Self.hopBytes),
            case .success(let header) = FrameHeader.read(head), header.kind == .events, !selection.wants(header),
            header.payloadBytes <= Self.maximumPayloadBytes, header.frameBytes <= limit - offset
        else { return nil }
        return header
    }

    /// Checks for a valid frame at an offset.
    private mutating func frame(at start: Int) throws(FileError) -> Result<FrameHeader, Damage.Flaw> {
        guard let head = try bytes(start, FrameHeader.byteCount) else { return .failure(.incomplete) }
        switch FrameHeader.read(head) {
        case .failure(let flaw):
            return .failure(.header(flaw))
        case .success(var header):
            guard header.payloadBytes <= Self.maximumPayloadBytes else { return .failure(.header(.checksum)) }
            let bodyBytes = header.frameBytes - FrameHeader.byteCount
            guard let body = try bytes(start + FrameHeader.byteCount, bodyBytes) else { return .failure(.incomplete) }
            guard Checksum.of(body) == header.payloadChecksum else { return .failure(.lines(header)) }
            if header.hasPlanDigest { header.planDigest = PlanDigest(body) }
            return .success(header)
        }
    }

    /// The offset of the next valid frame after a damaged one; the end if there is none.
    private mutating func nextFrame(after start: Int, _ flaw: Damage.Flaw) throws(FileError) -> Int {
        // If the header is valid, its length most likely is, too.
        if case .lines(let header) = flaw, start + header.frameBytes < end,
            case .success = try frame(at: start + header.frameBytes)
        {
            return start + header.frameBytes
        }
        var place = start + 1
        while place <= end - MemoryLayout.size(ofValue: FrameHeader.magic) {
            guard let rest = try bytes(place, min(Self.windowBytes / 2, end - place)) else { break }
            guard let found = Self.positionOfMagic(in: rest) else {
                place += rest.count - 3
                continue
            }
            place += found
            if case .success = try frame(at: place) { return place }
            place += 1
        }
        return end
    }

    private static func positionOfMagic(in bytes: UnsafeRawBufferPointer) -> Int? {
        let magic = FrameHeader.magic.littleEndian
        var position = 0
        while position + 4 <= bytes.count {
            if bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self) == magic { return position }
            position += 1
        }
        return nil
    }

    /// Bytes of the file; `nil` if it ends before.
    private mutating func bytes(
        _ start: Int,
        _ count: Int,
        readingAhead: Int = windowBytes
    ) throws(FileError) -> UnsafeRawBufferPointer? {
        guard start <= limit, count <= limit - start else { return nil }
        if start < windowRange.lowerBound || start + count > windowRange.upperBound {
            if count > window.count {
                window.deallocate()
                window = .allocate(byteCount: count, alignment: 16)
            }
            // Before reading, so that after a failure the window is not mistaken for the file's bytes.
            windowRange = start..<start
            let wanted = UnsafeMutableRawBufferPointer(
                rebasing: window[..<min(max(count, readingAhead), limit - start)]
            )
            let read = try file.read(into: wanted, at: start)
            windowRange = start..<start + read
            guard count <= read else { return nil }
        }
        let position = start - windowRange.lowerBound
        return UnsafeRawBufferPointer(rebasing: window[position..<position + count])
    }
}
