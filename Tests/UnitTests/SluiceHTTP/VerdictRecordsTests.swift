import EventModel
import EventQuarantine
import EventValidation
import Foundation
import SluiceHTTP
import TestCases
import TestPromises
import Testing

@Suite("What a request's rejected events take in the quarantine")
struct VerdictRecordsTests {
    private static let time = Timestamp(microseconds: 1_700_000_000_123_000, fractionDigits: 3)

    /// The events of a kind of request, with as many mistakes as fit.
    private static func rejections(
        _ count: Int,
        violations: Int,
        original: (Int) -> [UInt8],
        codes: (Int) -> VerdictCode = { _ in .unplannedProperty }
    ) -> [Rejection] {
        let quotes = String(repeating: "\u{22}", count: 100)
        return (0..<count).map { index in
            Rejection(
                index: index,
                id: nil,
                name: "Sold",
                violations: (0..<violations).map { number in
                    Violation(
                        code: codes(index &* 31 &+ number),
                        path: "$.payload.\(String(repeating: "p", count: 100))\(number)",
                        expected: "a property of the plan",
                        found: quotes
                    )
                },
                original: original(index)
            )
        }
    }

    /// The events and their codes that some bytes stand for.
    private static func read(_ records: VerdictRecords) throws -> [(codes: Set<String>, original: [UInt8])] {
        let lines = try #require(records.bytes.withUnsafeBytes { VerdictRecords.lines(of: $0) })
        return try lines.split(separator: UInt8(ascii: "\n")).map { line in
            let object = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
            let verdict = object?["quarantine"] as? [String: Any]
            let errors = verdict?["errors"] as? [[String: Any]] ?? []
            return (Set(errors.compactMap { $0["code"] as? String }), try #require(Quarantine.original(ofLine: line)))
        }
    }

    private static func records(_ rejections: [Rejection]) -> VerdictRecords {
        VerdictRecords(rejections, source: "http", planVersion: "2.1", at: time)
    }

    /// The body that these events came in has a byte more for each, at least.
    private static func inflatedBytes(_ rejections: [Rejection]) -> Int {
        rejections.reduce(0) { $0 + $1.original.count }
    }

    @Test(
        "is at most the inflated body and 64 KiB, however many and wrong they are, and every event is there as it was",
        .promise("many-invalid-events")
    )
    func bound() throws {
        let most = IngestConfiguration().maximumRejections
        let small = Self.rejections(most, violations: 10, original: { Array(#"{"name":"\#($0)"}"#.utf8) })
        let empty = Self.rejections(most, violations: 1, original: { _ in [] }, codes: { _ in .malformedJSON })
        let quotes = Self.rejections(
            400,
            violations: 1,
            original: { _ in [UInt8](repeating: UInt8(ascii: "\""), count: 10_000) },
            codes: { _ in .malformedJSON }
        )
        let binary = Self.rejections(
            40,
            violations: 1,
            original: { index in (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 131 &+ index) } },
            codes: { _ in .malformedJSON }
        )
        let controls = Self.rejections(
            4,
            violations: 1,
            original: { _ in [UInt8](repeating: 1, count: 1 << 20) },
            codes: { _ in .tooLarge }
        )
        let everyCode = Self.rejections(
            most,
            violations: 10,
            original: { Array(#"{"n":\#($0)}"#.utf8) },
            codes: { VerdictCode.allCases[($0 &* 2_654_435_761 >> 7) % VerdictCode.allCases.count] }
        )
        for rejections in [small, empty, quotes, binary, controls, everyCode] {
            let records = Self.records(rejections)
            #expect(records.count == rejections.count)
            #expect(records.bytes.count <= Self.inflatedBytes(rejections) + 64 << 10)
            let found = try Self.read(records).map(\.original)
            #expect(found.count == rejections.count)
            #expect(Set(found) == Set(rejections.map(\.original)))
        }
    }

    @Test(
        "contain each event's whole verdict while there is room, and then at least its codes",
        .promise("many-invalid-events")
    )
    func explanations() throws {
        let rejections = Self.rejections(
            5_000,
            violations: 2,
            original: { Array(#"{"n":\#($0)}"#.utf8) },
            codes: { $0.isMultiple(of: 3) ? .wrongType : .tooLong }
        )
        let records = Self.records(rejections)
        let text = String(decoding: records.bytes, as: UTF8.self)
        let explained = text.matches(of: /"path":/).count / 2
        #expect(explained > 20 && explained < 200)
        let codes = Dictionary(uniqueKeysWithValues: try Self.read(records).map { ($0.original, $0.codes) })
        for rejection in rejections {
            #expect(codes[rejection.original] == Set(rejection.violations.map(\.code.rawValue)))
        }
    }

    @Test("contain all codes of an event if there are too many kinds of verdicts")
    func manyKinds() throws {
        let all = VerdictCode.allCases.filter { $0 != .malformedJSON && $0 != .tooLarge && $0 != .tooDeep }
        let rejections = (0..<4_000).map { index in
            let codes = all.indices.filter { index >> $0 & 1 == 1 }.map { all[$0] }
            let violations = (codes.isEmpty ? [all[0]] : codes).map {
                Violation(code: $0, path: String(repeating: "p", count: 30_000), expected: "", found: "")
            }
            return Rejection(
                index: index,
                id: nil,
                name: nil,
                violations: violations,
                original: Array("[\(index)]".utf8)
            )
        }
        let records = Self.records(rejections)
        #expect(records.bytes.count <= Self.inflatedBytes(rejections) + 64 << 10)
        let codes = Dictionary(uniqueKeysWithValues: try Self.read(records).map { ($0.original, $0.codes) })
        var (exact, sharedCodes, shared) = (0, Set<Set<String>>(), Set<String>())
        for rejection in rejections {
            let own = Set(rejection.violations.map(\.code.rawValue))
            let named = try #require(codes[rejection.original])
            if named == own {
                exact += 1
            } else {
                sharedCodes.insert(named)
                shared.formUnion(own)
            }
        }
        // As many kinds as there is room for have a block to themselves; the others share one with the codes of all.
        #expect(exact > 20)
        #expect(sharedCodes == [shared])
    }

    @Test("truncated bytes decode to fewer whole events, or not at all")
    func cutOff() throws {
        let rejections = Self.rejections(400, violations: 1, original: { Array("[\($0)]".utf8) })
        let records = Self.records(rejections)
        let whole = try #require(Self.lines(of: records.bytes))
        var (readable, unreadable) = (0, 0)
        for count in 1..<records.bytes.count {
            guard let lines = Self.lines(of: Array(records.bytes.prefix(count))) else {
                unreadable += 1
                continue
            }
            readable += 1
            #expect(lines.count < whole.count && lines.last == UInt8(ascii: "\n") && whole.starts(with: lines))
        }
        // Events in a block of their own can be told from each other, those that share one cannot.
        #expect(readable > 20 && unreadable > readable)
    }

    @Test("bytes with wrong lengths do not decode")
    func damaged() throws {
        let original = Array("[0]".utf8)
        let bytes = Self.records(Self.rejections(1, violations: 1, original: { _ in original })).bytes
        // The verdict's length takes two bytes; behind the verdict stand the marker, the count, and the event's length.
        let (low, high) = (Int(bytes[0]), Int(bytes[1]))
        #expect(low >= 0x80 && high < 0x80)
        let marker = 2 + (low & 0x7F | high << 7)
        #expect(Array(bytes[marker...]) == [1, 1, 3] + original)
        #expect(Self.lines(of: bytes) != nil)
        for (place, value) in [(marker, 2), (marker, 0xFF), (marker + 1, 2), (marker + 1, 0x7F), (marker + 2, 4)] {
            var damaged = bytes
            damaged[place] = UInt8(value)
            #expect(Self.lines(of: damaged) == nil, "\(place): \(value)")
        }
        let endless = [UInt8](repeating: 0xFF, count: 100)
        for place in [0, marker + 1, marker + 2] {
            #expect(Self.lines(of: bytes[..<place] + endless) == nil)
            // A length that no memory could hold.
            #expect(Self.lines(of: bytes[..<place] + [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]) == nil)
        }
    }

    private static func lines(of bytes: some Sequence<UInt8>) -> [UInt8]? {
        Array(bytes).withUnsafeBytes { VerdictRecords.lines(of: $0) }
    }
}
