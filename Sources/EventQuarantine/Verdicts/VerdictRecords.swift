import EventJournal
package import EventModel
package import EventValidation

/// The storage format of the rejected events of one request: the original bytes with little overhead.
///
/// A sequence of blocks, in which numbers are unsigned LEB128:
///
/// | field | content |
/// |---|---|
/// | length, verdict | the JSON object that `QuarantineLine` describes |
/// | 1 byte | 1 if the events are JSON, 0 if that is unknown |
/// | number | number of events with this verdict |
/// | length, event | each of these events as it was sent |
///
/// Each event has its own block with the whole verdict, until the verdicts of the request fill `maximumOverheadBytes`; the others
/// share blocks whose verdicts have only codes. So the stored size is at most the size of the events plus this overhead.
package struct VerdictRecords: Sendable {
    /// The maximum number of bytes that a request takes beyond its rejected events themselves, the frame's header included.
    ///
    /// It holds up to 20,000 rejected events a request; beyond that, each takes up to 4 bytes more.
    package static let maximumOverheadBytes = 64 << 10
    /// The part of it that is reserved for verdicts with only codes.
    private static let sharedVerdictBytes = 12 << 10

    /// The blocks.
    package private(set) var bytes: [UInt8] = []
    /// The number of events.
    package let count: Int

    /// Encodes events that failed validation.
    package init(_ rejections: [Rejection], source: String, planVersion: String?, at time: Timestamp) {
        count = rejections.count
        let head = QuarantineLine.Head.check(from: source, at: time, planVersion: planVersion)
        let lengths = rejections.reduce(0) { $0 + LEB128.byteCount(of: $1.original.count) }
        let room = max(Self.sharedVerdictBytes, Self.maximumOverheadBytes - FrameHeader.byteCount - lengths)
        bytes.reserveCapacity(room + lengths + rejections.reduce(0) { $0 + $1.original.count })
        var overhead = 0
        let rest = explain(rejections, head, room: room - Self.sharedVerdictBytes, &overhead)
        share(rest, head, room: room - overhead)
    }

    // MARK: Writing

    /// Writes a block with the whole verdict for each event while there is room; returns the other events.
    private mutating func explain(
        _ rejections: [Rejection],
        _ head: QuarantineLine.Head,
        room: Int,
        _ overhead: inout Int
    ) -> [Rejection] {
        rejections.filter { rejection in
            // Verdicts that cannot fit are not encoded, because a request may have thousands of them.
            guard overhead + QuarantineLine.leastBytes(of: rejection.violations) <= room else { return true }
            let verdict = QuarantineLine.verdict(on: rejection, head)
            let needed = Self.blockOverhead(verdict, events: 1)
            guard overhead + needed <= room else { return true }
            overhead += needed
            append(verdict, holdsJSON: rejection.holdsJSON, [rejection])
            return false
        }
    }

    /// Writes a block for each set of codes; events for whose set there is no room share a block with all their codes.
    private mutating func share(_ rejections: [Rejection], _ head: QuarantineLine.Head, room: Int) {
        let groups = Dictionary(grouping: rejections) { Kind(codes: CodeSet($0.violations), holdsJSON: $0.holdsJSON) }
        // The most that the last two blocks can take.
        var room = room - 2 * Self.blockOverhead(QuarantineLine.verdict(of: VerdictCode.allCases, head), events: count)
        var rest: [Bool: (codes: CodeSet, rejections: [Rejection])] = [:]
        for (kind, rejections) in groups.sorted(by: { $0.value[0].index < $1.value[0].index }) {
            let verdict = QuarantineLine.verdict(of: kind.codes.codes, head)
            let needed = Self.blockOverhead(verdict, events: rejections.count)
            if needed <= room {
                room -= needed
                append(verdict, holdsJSON: kind.holdsJSON, rejections)
            } else {
                rest[kind.holdsJSON, default: (CodeSet(), [])].codes.formUnion(kind.codes)
                rest[kind.holdsJSON, default: (CodeSet(), [])].rejections += rejections
            }
        }
        for (holdsJSON, group) in rest {
            append(QuarantineLine.verdict(of: group.codes.codes, head), holdsJSON: holdsJSON, group.rejections)
        }
    }

    /// The properties that the events of a shared block have in common.
    private struct Kind: Hashable {
        let codes: CodeSet
        let holdsJSON: Bool
    }

    private static func blockOverhead(_ verdict: [UInt8], events: Int) -> Int {
        LEB128.byteCount(of: verdict.count) + verdict.count + 1 + LEB128.byteCount(of: events)
    }

    private mutating func append(_ verdict: [UInt8], holdsJSON: Bool, _ rejections: [Rejection]) {
        LEB128.append(verdict.count, to: &bytes)
        bytes += verdict
        bytes.append(holdsJSON ? 1 : 0)
        LEB128.append(rejections.count, to: &bytes)
        for rejection in rejections {
            LEB128.append(rejection.original.count, to: &bytes)
            bytes += rejection.original
        }
    }

    // MARK: Reading

    /// Decodes blocks into lines of `QuarantineLine`; `nil` if the bytes are not valid blocks.
    package static func lines(of blocks: UnsafeRawBufferPointer) -> [UInt8]? {
        var lines: [UInt8] = []
        var rest = blocks[...]
        while !rest.isEmpty {
            guard let verdict = take(from: &rest), let holdsJSON = rest.popFirst(), holdsJSON <= 1,
                let count = LEB128.take(from: &rest)
            else { return nil }
            for _ in 0..<count {
                guard let original = take(from: &rest) else { return nil }
                QuarantineLine.append(verdict: verdict, Array(original), holdsJSON: holdsJSON == 1, to: &lines)
            }
        }
        return lines
    }

    /// Reads bytes that are preceded by their number.
    private static func take(from bytes: inout Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer>? {
        guard let count = LEB128.take(from: &bytes), count <= bytes.count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return bytes.prefix(count)
    }
}

/// The codes of a verdict, as bits.
private struct CodeSet: OptionSet, Hashable {
    let rawValue: UInt64

    private static let bits = Dictionary(
        uniqueKeysWithValues: VerdictCode.allCases.enumerated().map { ($1, UInt64(1) << UInt64($0)) }
    )

    init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    init(_ violations: [Violation]) {
        rawValue = violations.reduce(0) { $0 | (Self.bits[$1.code] ?? 0) }
    }

    var codes: [VerdictCode] { VerdictCode.allCases.filter { rawValue & (Self.bits[$0] ?? 0) != 0 } }
}

/// Unsigned LEB128: seven bits in each byte, the lowest first.
private enum LEB128 {
    static func byteCount(of number: Int) -> Int {
        max(1, (Int.bitWidth - number.leadingZeroBitCount + 6) / 7)
    }

    static func append(_ number: Int, to bytes: inout [UInt8]) {
        var rest = number
        while rest > 0x7F {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Reads a number; `nil` if there is none, or if it is too large.
    static func take(from bytes: inout Slice<UnsafeRawBufferPointer>) -> Int? {
        var number = 0
        var shift = 0
        while let byte = bytes.popFirst(), shift < Int.bitWidth - 8 {
            number |= Int(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return number }
            shift += 7
        }
        return nil
    }
}
