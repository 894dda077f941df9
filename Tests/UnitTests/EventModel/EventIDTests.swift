import EventModel
import TestCases
import Testing

@Suite("Event ids")
struct EventIDTests {
    @Test("the text form reads back as the same id")
    func roundTrip() {
        var source = CaseSource(seed: CaseSource.runSeed)
        for _ in 0..<2000 {
            let id = EventID(high: source.next(), low: source.next())
            let text = id.description
            #expect(EventID(text) == id)
            #expect(EventID(text.uppercased()) == id)
            #expect(text == text.lowercased())
        }
    }

    @Test(
        "the text form is the sixteen bytes in hexadecimal",
        arguments: [
            (0, 0, "00000000-0000-0000-0000-000000000000"),
            (.max, .max, "ffffffff-ffff-ffff-ffff-ffffffffffff"),
            (0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210, "01234567-89ab-cdef-fedc-ba9876543210"),
            (0x0F0E_0D0C_0B0A_0908, 0x0000_0000_0000_0001, "0f0e0d0c-0b0a-0908-0000-000000000001"),
        ] as [(UInt64, UInt64, String)]
    )
    func text(high: UInt64, low: UInt64, text: String) {
        #expect(EventID(high: high, low: low).description == text)
    }

    @Test("no other character is accepted at any position of the text form")
    func otherCharacters() {
        let text = Array("01234567-89ab-cdef-fedc-ba9876543210".utf8)
        for place in text.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = text
                changed[place] = byte
                let isDash = text[place] == UInt8(ascii: "-")
                let isAllowed = isDash ? byte == UInt8(ascii: "-") : "0123456789abcdefABCDEF".utf8.contains(byte)
                #expect((changed.withUnsafeBytes { EventID(text: $0) } != nil) == isAllowed)
            }
        }
        #expect(EventID("") == nil)
        #expect(EventID("0123456789abcdeffedcba9876543210") == nil)
    }

    @Test("versions 7 and 8 are laid out as RFC 9562 says")
    func layout() {
        let time = Timestamp(microseconds: 1_645_557_742_000_999)
        // RFC 9562, appendix A.6.
        let seven = EventID(version7At: time, randomA: 0xCC3, randomB: 0x18C4_DC0C_0C07_398F)
        #expect(seven.description == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
        let eight = EventID(version8At: time, digestHigh: .max, digestLow: .max)
        #expect(eight.description == "017f22e2-79b0-8fff-bfff-ffffffffffff")
        let none = EventID(version8At: Timestamp(microseconds: -5_000_000), digestHigh: 0, digestLow: 0)
        #expect(none.description == "00000000-0000-8000-8000-000000000000")
        let last = EventID(version7At: Timestamp(microseconds: .max), randomA: 0, randomB: 0)
        #expect(last.description == "e677d21f-dbff-7000-8000-000000000000")
    }

    @Test("ids are ordered like their text, and ids of one version by time")
    func order() {
        var source = CaseSource(seed: CaseSource.runSeed)
        var ids = (0..<300).map { _ in EventID(high: source.next(), low: source.next()) }
        ids += ids.prefix(50).map { EventID(high: $0.high, low: source.next()) }
        #expect(ids.sorted().map(\.description) == ids.map(\.description).sorted())
        var generator = EventIDGenerator()
        let byTime = (0..<300).map { generator.next(at: Timestamp(microseconds: Int64($0) * 1000)) }
        #expect(byTime == byTime.sorted())
    }

    @Test("the ids of a generator ascend, even within a millisecond")
    func ascending() {
        var generator = EventIDGenerator()
        let ids = (0..<30_000).map { generator.next(at: Timestamp(microseconds: 5_000_000 + Int64($0 / 10))) }
        #expect(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test("generated ids are unique, within a millisecond and across generators")
    func unique() {
        var (one, other) = (EventIDGenerator(), EventIDGenerator())
        let time = Timestamp(microseconds: 1_000_000)
        let ids = Set((0..<20_000).map { $0.isMultiple(of: 2) ? one.next(at: time) : other.next(at: time) })
        #expect(ids.count == 20_000)
        #expect(ids.allSatisfy { $0.high >> 16 == 1000 && $0.high >> 12 & 0xF == 7 && $0.low >> 62 == 2 })
    }

    @Test("a generator with a seed of zeros works")
    func zeroSeed() {
        struct Zeros: RandomNumberGenerator {
            func next() -> UInt64 { 0 }
        }
        var zeros = Zeros()
        var generator = EventIDGenerator(using: &zeros)
        #expect(Set((0..<1000).map { _ in generator.next(at: Timestamp(microseconds: 0)) }).count == 1000)
    }
}
