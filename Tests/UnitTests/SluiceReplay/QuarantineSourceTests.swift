import EventJournal
import EventModel
import EventQuarantine
import EventValidation
import Foundation
import SluiceReplay
import SluiceTesting
import TestCases
import Testing
import TrackerKit

@Suite("The quarantine as a source", .timeLimit(.minutes(5)))
struct QuarantineSourceTests {
    private func open(
        _ folder: ReplayFolder,
        _ catalog: EventCatalog = ReplayFolder.catalog(),
        codes: [String] = []
    ) throws -> any ReplaySource {
        let selection = folder.selection(catalog, try QuarantineFilter(codes: codes, events: []))
        return try ReplayInput.quarantine.open(selection, stop: Interrupt())
    }

    // MARK: Records

    @Test("records have the ids of their parts, their verdicts, and the events byte for byte")
    func scan() async throws {
        let folder = try ReplayFolder()
        let event = #"{ "name":"Gone", "payload":{"é":1}}"#
        try await folder.reject([ReplayFolder.sold(1), event])
        try await folder.refuse([ReplayFolder.sold(2)], by: "alpha", as: .parked)
        var records: [QuarantineRecord] = []
        let store = FolderQuarantine(path: folder.quarantine)
        #expect(try await store.forEach(QuarantineFilter()) { records.append($0) } == [])
        records.sort { $0.id > $1.id }
        #expect(records.map(\.id) == ["verdicts/0-1", "verdicts/0-0", "refused/0-0"])
        #expect(records.map(\.codes) == [["unknown-event"], ["out-of-range"], ["parked"]])
        #expect(records.map(\.eventName) == ["Gone", "Sold", "Sold"])
        #expect(records.map(\.tracker) == [nil, nil, "alpha"])
        #expect(records.map(\.verdict.source) == ["http", "http", "tracker:alpha"])
        #expect(records.allSatisfy { $0.at == ReplayFolder.arrival })
        #expect(records[0].original == Array(event.utf8))
        #expect(Set(records.map(\.key)).count == 3)
        // Other quarantines have parts of the same names.
        let other = try ReplayFolder()
        try await other.reject([ReplayFolder.sold(1)])
        _ = try await FolderQuarantine(path: other.quarantine).forEach(QuarantineFilter()) { record in
            #expect(record.id == "verdicts/0-0" && !records.map(\.key).contains(record.key))
        }
    }

    @Test("a folder that does not exist is an error")
    func missing() throws {
        let folder = try ReplayFolder()
        let error = #expect(throws: JournalError.self) { try open(folder) }
        #expect(error?.message.contains("The quarantine '\(folder.quarantine)' cannot be read") == true)
    }

    @Test("damage is reported once, and the records of other parts are read")
    func damage() async throws {
        let folder = try ReplayFolder()
        try await folder.reject([ReplayFolder.sold(1)])
        try await folder.refuse([ReplayFolder.sold(2)], by: "alpha")
        let part = folder.quarantine + "/verdicts/0/"
        let segment = try #require(
            FileManager.default.contentsOfDirectory(atPath: part).first { $0.hasSuffix(".segment") }
        )
        let url = URL(filePath: part + segment)
        var bytes = try Data(contentsOf: url)
        bytes[FrameHeader.byteCount + 20] ^= 1
        try bytes.write(to: url)
        let source = try open(folder)
        #expect(try await source.parts().lines.count == 1)
        let failures = source.takeFailures()
        #expect(failures.count == 1 && failures[0].contains(segment), "\(failures)")
        #expect(source.takeFailures().isEmpty)
        let findings = try await FolderQuarantine(path: folder.quarantine).forEach(QuarantineFilter()) { _ in }
        #expect(findings == failures)
    }

    // MARK: Events

    @Test("each record is a part; events are validated again, and those without a time have that of their record")
    func events() async throws {
        let folder = try ReplayFolder()
        let stated = #""time":"2025-02-28T08:00:00Z","#
        try await folder.reject([ReplayFolder.sold(1), ReplayFolder.sold(2, stated), ReplayFolder.sold(0), "{broken"])
        let parts = try await open(folder).parts()
        #expect(parts.map(\.checked.count) == [1, 1, 1, 1])
        #expect(parts.allSatisfy { $0.isQuarantined && $0.recordKey != nil })
        #expect(parts.codes == ["out-of-range", "malformed-json"])
        let times = [ReplayFolder.arrivalText, "2025-02-28T08:00:00Z"]
        for (line, time) in zip(parts.lines, times) {
            #expect(line.contains(#""time":"\#(time)","receivedAt":"\#(ReplayFolder.arrivalText)""#), "\(line)")
        }
        #expect(parts.lines.count == 2)
    }

    @Test("an event without an id gets the same id each time")
    func stableIDs() async throws {
        let folder = try ReplayFolder()
        try await folder.reject([ReplayFolder.sold(1), ReplayFolder.sold(1)])
        let ids = try await open(folder).parts().ids
        #expect(Set(ids).count == 2)
        #expect(try await open(folder, codes: ["out-of-range"]).parts().ids == ids)
    }

    @Test("an event that one tracker did not deliver goes to that tracker only, if the plan sends it there")
    func refused() async throws {
        let folder = try ReplayFolder()
        try await folder.refuse([ReplayFolder.sold(1)], by: "alpha")
        for (trackers, expected) in [(["alpha", "beta"], ["alpha"]), (["beta"], [])] {
            let catalog = ReplayFolder.catalog(soldTo: trackers)
            let part = try #require(try await open(folder, catalog).parts().first)
            let batch = try #require(part.checked.batch)
            #expect(batch.catalog.trackers(ofDefinition: Int(batch.entries[0].definitionIndex)) == expected)
            #expect(part.isSent(batch, to: ["alpha", "beta"], configured: ["alpha", "beta"]) == !expected.isEmpty)
        }
    }

    @Test(
        "events that are rejected for who sent them or when are read only if the selection names their code",
        arguments: [VerdictCode.forbiddenEvent, .timeOutOfRange]
    )
    func unchecked(code: VerdictCode) async throws {
        let folder = try ReplayFolder()
        let violation = Violation(code: code, path: "$", expected: "another event", found: "this one")
        let original = Array(ReplayFolder.sold(1).utf8)
        try await folder.keep([
            Rejection(index: 0, id: nil, name: "Sold", violations: [violation], original: original)
        ])
        #expect(try await open(folder).parts().isEmpty)
        #expect(try await open(folder, codes: [code.rawValue]).parts().lines.count == 1)
    }

    @Test("an event with line breaks between its tokens is one event")
    func lineBreaks() async throws {
        let folder = try ReplayFolder()
        let original = Array("{\n\"name\":\"Sold\",\r\n\"payload\":{\"quantity\":1}\n}".utf8)
        let violation = Violation(code: .outOfRange, path: "$.payload.quantity", expected: "9", found: "1")
        try await folder.keep([
            Rejection(index: 0, id: nil, name: "Sold", violations: [violation], original: original)
        ])
        #expect(try await open(folder).parts().map(\.checked.lines.count) == [1])
    }

    @Test("events that are quarantined after the opening are left to the next replay")
    func later() async throws {
        let folder = try ReplayFolder()
        try await folder.reject([ReplayFolder.sold(1)])
        let inAnHour = Timestamp(microseconds: Timestamp.now().microseconds + 3_600_000_000)
        try await folder.reject([ReplayFolder.sold(2)], at: inAnHour)
        #expect(try await open(folder).parts().lines.count == 1)
    }

    @Test("records that were sent are not read again")
    func sent() async throws {
        let folder = try ReplayFolder()
        try await folder.reject([ReplayFolder.sold(1), ReplayFolder.sold(2)])
        let first = try #require(try await open(folder).parts().first)
        guard case .quarantined(let key)? = first.recordKey else {
            Issue.record("\(first)")
            return
        }
        var records = try SentRecords(ofQuarantine: folder.quarantine, changes: true)
        try records.add([key])
        let parts = try await open(folder).parts()
        #expect(parts.count == 1 && parts[0].recordKey != first.recordKey)
    }

    @Test("a source that is stopped continues with the next record")
    func stopping() async throws {
        let folder = try ReplayFolder()
        try await folder.reject([ReplayFolder.sold(1), ReplayFolder.sold(2)])
        var isStopped = false
        let source = try QuarantineSource(folder.selection(), folder: folder.quarantine, isStopped: { isStopped })
        let first = try source.next()?.checked.lines ?? []
        isStopped = true
        #expect(try source.next() == nil)
        isStopped = false
        let second = try source.next()?.checked.lines ?? []
        #expect((first + second).map { $0.contains(#""quantity":2"#) } == [false, true])
        #expect(try source.next() == nil)
    }
}
