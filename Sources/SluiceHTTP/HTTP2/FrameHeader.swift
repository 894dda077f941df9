package import NIOCore

/// The nine bytes that every HTTP/2 frame begins with (RFC 9113, section 4.1).
package struct FrameHeader: Equatable {
    static let bytes = 9
    static let data: UInt8 = 0
    static let headers: UInt8 = 1
    static let reset: UInt8 = 3
    static let goAway: UInt8 = 7

    /// The length of the payload that follows.
    package let length: Int
    /// The type.
    package let kind: UInt8
    /// The number of its stream; 0 for the connection.
    package let stream: UInt32
    private let flags: UInt8

    /// Whether the payload has padding, for `DATA` and `HEADERS`.
    var isPadded: Bool { flags & 8 != 0 }

    package init(length: Int, kind: UInt8, flags: UInt8 = 0, stream: UInt32) {
        self.length = length
        self.kind = kind
        self.flags = flags
        self.stream = stream
    }

    /// Takes a header from the beginning of a buffer, which has at least `bytes` bytes.
    fileprivate init?(from buffer: inout ByteBuffer) {
        guard let fields = buffer.readMultipleIntegers(as: (UInt32, UInt8, UInt32).self) else { return nil }
        self.init(
            length: Int(fields.0 >> 8),
            kind: UInt8(fields.0 & 0xFF),
            flags: fields.1,
            stream: fields.2 & 0x7FFF_FFFF
        )
    }
}

/// Finds the headers of the frames in a sequence of buffers, and skips their payloads.
package struct FrameHeaderReader {
    /// The length of what a client sends before its first frame.
    package static let prefaceBytes = 24

    private var skippedBytes: Int
    /// The beginning of a header whose end has not arrived.
    private var partial = ByteBuffer()

    /// - Parameter skippedBytes: What precedes the first frame.
    package init(skippedBytes: Int) {
        self.skippedBytes = skippedBytes
    }

    /// Takes bytes up to the end of the next header; `nil` if there is none in the rest of the buffer.
    package mutating func next(in buffer: inout ByteBuffer) -> FrameHeader? {
        let skipped = min(skippedBytes, buffer.readableBytes)
        buffer.moveReaderIndex(forwardBy: skipped)
        skippedBytes -= skipped
        guard skippedBytes == 0 else { return nil }
        let header: FrameHeader?
        if partial.readableBytes == 0, buffer.readableBytes >= FrameHeader.bytes {
            header = FrameHeader(from: &buffer)
        } else {
            let missing = min(FrameHeader.bytes - partial.readableBytes, buffer.readableBytes)
            partial.writeImmutableBuffer(buffer.readSlice(length: missing) ?? ByteBuffer())
            guard partial.readableBytes == FrameHeader.bytes else { return nil }
            header = FrameHeader(from: &partial)
            partial.clear()
        }
        skippedBytes = header?.length ?? 0
        return header
    }
}
