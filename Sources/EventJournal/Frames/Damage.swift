/// Bytes of a segment that are not a valid frame.
package struct Damage: Sendable, Hashable {
    /// What is wrong with them.
    package enum Flaw: Error, Hashable {
        /// The file ends before the frame does.
        case incomplete
        /// The header is invalid.
        case header(FrameHeader.Flaw)
        /// The header is valid, but the checksum of the lines is wrong.
        case lines(FrameHeader)
        /// The file is gone.
        case missing
        /// They cannot be read; the value is `errno`.
        case unreadable(Int32)
    }

    /// The segment's file.
    package let segment: String
    /// The offset of the first byte.
    package let offset: Int
    /// The number of bytes, up to the next valid frame or the end.
    package let byteCount: Int
    /// What is wrong at its beginning.
    package let flaw: Flaw

    /// Its bytes in the file.
    package var range: Range<Int> { offset..<offset + byteCount }
}

extension Damage: CustomStringConvertible {
    /// For example `00000000000000000000.segment, byte 312: 96 bytes are no frame (the header's checksum is wrong)`.
    package var description: String {
        "\(segment), byte \(offset): \(byteCount) bytes are no frame (\(reason))"
    }

    private var reason: String {
        switch flaw {
        case .incomplete: "the file ends in it"
        case .header(.noMagic): "it does not begin as one"
        case .header(.checksum): "the header's checksum is wrong"
        case .header(.newerFormat(let version)): "its format \(version) is newer than this program"
        case .header(.unknownKind(let kind)): "its kind \(kind) is unknown"
        case .lines(let header):
            "the checksum of events \(header.firstSequence) to \(header.nextSequence &- 1) is wrong"
        case .missing: "the file is gone"
        case .unreadable(let number): "they cannot be read: \(PosixErrors.message(number))"
        }
    }
}
