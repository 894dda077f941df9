@_spi(CanonicalJSON) import EventModel
import TestCases
import Testing

@Suite("Timestamps")
struct TimestampTests {
    @Test("agree with a simple reader of RFC 3339, whether they are valid or not")
    func agreement() {
        var source = CaseSource(seed: CaseSource.runSeed)
        for _ in 0..<4000 {
            var bytes = Array(GeneratedTime.timestamp(&source).utf8)
            if source.once(in: 6) { bytes = EventMutation.damage(bytes, &source) }
            guard let text = String(validating: bytes, as: UTF8.self) else { continue }
            let (time, wanted) = (Timestamp(text), ReferenceTime(text))
            #expect(time.map { Int($0.microseconds) } == wanted?.microseconds, "\(text), seed \(CaseSource.runSeed)")
            #expect(time?.description == wanted?.text, "\(text), seed \(CaseSource.runSeed)")
            #expect(time.flatMap { Timestamp($0.description) } == time, "\(text), seed \(CaseSource.runSeed)")
        }
    }

    @Test("are read in the same way by a reader that caches the last date")
    func reader() {
        var source = CaseSource(seed: CaseSource.runSeed)
        var reader = TimestampReader()
        var texts = ["1970-01-01T00:00:00Z", String(repeating: "\0", count: 10) + "T00:00:00Z"]
        for _ in 0..<8000 {
            // One of the last few, with another time of day, or damaged; or a new one.
            var bytes = Array(source.once(in: 4) ? GeneratedTime.timestamp(&source).utf8 : source.pick(texts).utf8)
            if source.once(in: 3), bytes.count > 20 {
                bytes.replaceSubrange(11..<19, with: GeneratedTime.timestamp(&source).utf8.dropFirst(11).prefix(8))
            }
            if source.once(in: 8) { bytes = EventMutation.damage(bytes, &source) }
            guard let text = String(validating: bytes, as: UTF8.self) else { continue }
            let (time, wanted) = (bytes.withUnsafeBytes { reader.read($0) }, ReferenceTime(text))
            #expect(time.map { Int($0.microseconds) } == wanted?.microseconds, "\(text), seed \(CaseSource.runSeed)")
            #expect(time?.description == wanted?.text, "\(text), seed \(CaseSource.runSeed)")
            if texts.count < 6 { texts.append(text) } else { texts[source.number(0...5)] = text }
        }
    }

    @Test("are written in the same way by a writer that caches the last text")
    func writer() {
        var source = CaseSource(seed: CaseSource.runSeed)
        var writer = TimestampWriter()
        var microseconds: Int64 = 0
        for _ in 0..<4000 {
            switch source.number(0...4) {
            case 0: microseconds = Int64(truncatingIfNeeded: source.next()) / 64
            case 1: microseconds += Int64(source.number(-86_400_000_000...86_400_000_000))
            case 2: microseconds = microseconds / 86_400_000_000 * 86_400_000_000 - Int64(source.number(0...1))
            default: microseconds += Int64(source.number(0...999))
            }
            let time = Timestamp(microseconds: microseconds, fractionDigits: UInt8(source.number(0...6)))
            let text = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: TimestampWriter.reservedLength) {
                bytes in
                bytes.baseAddress.map { start in
                    let length = writer.write(time, to: start)
                    return String(decoding: bytes[..<length], as: UTF8.self)
                }
            }
            #expect(text == time.description, "seed \(CaseSource.runSeed)")
        }
    }

    @Test("keep the number of fractional digits, up to six", arguments: 0...9)
    func fractionDigits(count: Int) throws {
        let digits = String("123456789".prefix(count))
        let time = try #require(Timestamp("2020-02-29T12:34:56" + (count > 0 ? "." + digits : "") + "Z"))
        #expect(Int(time.fractionDigits) == min(count, 6))
        #expect(time.description == "2020-02-29T12:34:56" + (count > 0 ? "." + digits.prefix(6) : "") + "Z")
    }

    @Test("are clamped to the years 0001 to 9999 and six digits")
    func clamped() {
        #expect(Timestamp(microseconds: .min, fractionDigits: 200).description == "0001-01-01T00:00:00.000000Z")
        #expect(Timestamp(microseconds: .max, fractionDigits: 0).description == "9999-12-31T23:59:59Z")
    }

    @Test(
        "round milliseconds down, also before 1970",
        arguments: [
            (0, 0), (999, 0), (1000, 1), (-1, -1), (-1000, -1), (-1001, -2), (1_700_000_000_123_999, 1_700_000_000_123),
        ] as [(Int64, Int64)]
    )
    func milliseconds(microseconds: Int64, milliseconds: Int64) {
        #expect(Timestamp(microseconds: microseconds).milliseconds == milliseconds)
    }

    @Test("are ordered by time, whatever their precision")
    func order() throws {
        let (early, late) = (
            try #require(Timestamp("2020-01-01T00:00:00.9999999Z")), try #require(Timestamp("2020-01-01T00:00:01Z"))
        )
        #expect(early < late)
        #expect(!(late < early))
        let same = try #require(Timestamp("2020-01-01T01:00:01.000+01:00"))
        #expect(!(late < same) && !(same < late))
        #expect(late != same, "they are written differently")
    }
}
