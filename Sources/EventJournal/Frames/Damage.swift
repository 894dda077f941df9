/// Bytes of a segment that are no frame, though one must once have been there.
package struct Damage: Sendable, Hashable {
    /// Why they are none.
    package enum Flaw: Error, Hashable {
        /// The file ends before the frame does.
        case incomplete
        /// The header is not good.
        case header(FrameHeader.Flaw)
        /// The header is good, the lines are not those that were written.
        case lines(FrameHeader)
        /// There is no such file any more.
        case missing
        /// The system does not read them; its error's number.
        case unreadable(Int32)
    }

    /// The segment's file.
    package let segment: String
    /// Where it begins.
    package let offset: Int
    /// How far it goes, up to the next good frame or the end.
    package let byteCount: Int
    /// Why the frame at its beginning is none.
    package let flaw: Flaw

    /// Its bytes in the file.
    package var range: Range<Int> { offset..<offset + byteCount }
}

extension Damage: CustomStringConvertible {
    /// As `00000000000000000000.segment, byte 312: 96 bytes are no frame (the header's checksum is wrong)`.
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
