/// What a reading of a whole segment finds.
struct SegmentScan {
    /// What its good frames say; its bytes are those of the file.
    private(set) var segment: Segment
    /// Where it has no frame though it should.
    private(set) var damages: [Damage] = []
    /// Its last good frame.
    private(set) var last: FrameHeader?

    /// Reads a segment as far as the file goes now.
    init(_ name: SegmentName, _ file: any JournalFile) throws(FileError) {
        segment = Segment(name)
        let size = try file.size()
        var reader = FrameReader(file, name: name.text, to: size)
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
        segment.byteCount = size
    }

    /// Whether it was ended, whatever stands behind.
    var isEnded: Bool { last?.kind == .end }

    /// Damage that reaches to the end of the file: in a journal's last segment a commit that was not finished.
    var tail: Damage? {
        damages.last.flatMap { $0.range.upperBound == segment.byteCount ? $0 : nil }
    }
}

extension Segment {
    /// What the end of a segment says that was ended, without reading the rest; `nil` where it was not.
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
