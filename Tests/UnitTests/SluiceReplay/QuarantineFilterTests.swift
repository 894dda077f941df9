import EventModel
import EventQuarantine
import EventValidation
import SluiceReplay
import SluiceTesting
import Testing

@Suite("The filter of a quarantine")
struct QuarantineFilterTests {
    /// The records of a quarantine that a filter selects: the texts of their events.
    private func selected(_ filter: QuarantineFilter, in folder: ReplayFolder) throws -> [String] {
        var scan = try QuarantineScan(QuarantineFolder(path: folder.quarantine), filter)
        var found: [String] = []
        while let record = try scan.next() { found.append(String(decoding: record.original, as: UTF8.self)) }
        return found
    }

    private static let lines = [
        ReplayFolder.sold(0), #"{"name":"Gone","payload":{"é":1}}"#, #"{"name":"Sold","payload":{"quantity":"3"}}"#,
        "{broken",
    ]

    @Test(
        "selects by codes and names, which must both match",
        arguments: [
            ([], [], [0, 1, 2, 3]), (["out-of-range"], [], [0]), (["out-of-range", "wrong-type"], [], [0, 2]),
            ([], ["Sold"], [0, 2]), ([], ["Gone"], [1]), ([], ["Nothing"], []), (["unknown-event"], ["Sold"], []),
            ([], ["Sold", "Gone"], [0, 1, 2]), (["refused"], [], []),
        ] as [([String], [String], [Int])]
    )
    func namesAndCodes(codes: [String], events: [String], expected: [Int]) async throws {
        let folder = try ReplayFolder()
        try await folder.reject(Self.lines)
        let filter = try QuarantineFilter(codes: codes, events: events)
        #expect(try selected(filter, in: folder) == expected.map { Self.lines[$0] })
    }

    @Test("includes the time since and excludes the time until at which an event was quarantined")
    func times() async throws {
        let folder = try ReplayFolder()
        for second in 1...3 {
            try await folder.reject([ReplayFolder.sold(second)], at: Timestamp(microseconds: Int64(second) * 1_000_000))
        }
        var filter = QuarantineFilter()
        filter.since = Timestamp(microseconds: 2_000_000)
        #expect(try selected(filter, in: folder) == [2, 3].map { ReplayFolder.sold($0) })
        filter.until = Timestamp(microseconds: 3_000_000)
        #expect(try selected(filter, in: folder) == [ReplayFolder.sold(2)])
        filter.since = nil
        #expect(try selected(filter, in: folder) == [1, 2].map { ReplayFolder.sold($0) })
        filter.since = Timestamp(microseconds: 4_000_000)
        #expect(try selected(filter, in: folder).isEmpty)
    }

    @Test("with a code that does not exist is an error that lists the codes of verdicts and of deliveries")
    func unknownCode() {
        let error = #expect(throws: SelectionError.self) {
            try QuarantineFilter(codes: ["refused", "wrong"], events: [])
        }
        let codes = VerdictCode.allCases.map(\.rawValue) + DeliveryVerdict.allCases.map(\.rawValue)
        #expect(error?.message == "There is no code 'wrong'; there are: \(codes.joined(separator: ", ")).")
        #expect(codes.contains("malformed-json") && codes.contains("parked"))
    }
}
