/// The result of reading a whole segment.
struct SegmentScan {
    /// The metadata from its valid frames; its size includes damage, but no preallocated zeros.
    private(set) var segment: Segment
    /// The damaged places.
    private(set) var damages: [Damage] = []
    /// Its last valid frame.
    private(set) var last: FrameHeader?

    /// Reads a segment up to the current end of the file; the last one can have preallocated zeros there.
    init(_ name: SegmentName, _ file: any JournalFile, isLast: Bool) throws(FileError) {
        segment = Segment(name)
        var reader =
            isLast
            ? try FrameReader(last: file, name: name.text)
            : FrameReader(file, name: name.text, to: try file.size())
        reading: while true {
            switch try reader.next() {
            case .frame(let header, _):
                segment.append(header)
                last = header
            case .passed:
                continue
            case .damage(let damage):
                damages.append(damage)
            case .end:
                break reading
            }
        }
        segment.byteCount = reader.offset
    }

    /// Whether it has an end frame, whatever follows.
    var isEnded: Bool { last?.kind == .end }

    /// Damage that extends to its end; in a journal's last segment this is an interrupted commit.
    var tail: Damage? {
        damages.last.flatMap { $0.range.upperBound == segment.byteCount ? $0 : nil }
    }
}

extension Segment {
    /// Reads a segment's metadata from its end frame alone; `nil` if it has none.
    static func ended(
        _ name: SegmentName,
        _ file: any JournalFile
    ) throws(FileError) -> (segment: Segment, end: FrameHeader)? {
        let size = try file.size()
        guard size >= FrameHeader.byteCount else { return nil }
        var reader = FrameReader(file, name: name.text, from: size - FrameHeader.byteCount, to: size)
        guard case .frame(let end, _) = try reader.next(), end.kind == .end, end.firstSequence >= name.firstSequence
        else { return nil }
        var segment = Segment(name)
        segment.append(end)
        segment.byteCount = size
        return (segment, end)
    }
}
