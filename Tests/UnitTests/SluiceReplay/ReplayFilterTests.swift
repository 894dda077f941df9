import EventModel
import EventValidation
import SluiceReplay
import SluiceTesting
import TestCases
import Testing

@Suite("The filter of a replay")
struct ReplayFilterTests {
    private static let catalog = EventCatalog.scripted(["A": ["alpha"], "B": ["alpha"]])
    private static let times = ["2010-12-01T08:26:00Z", "2010-12-01T08:27:59Z", "2010-12-01T08:28:00Z"]

    /// Events named A, B and A at the three times.
    private func batch() throws -> EventBatch {
        let events = try Self.times.enumerated().map { position, text in
            let time = try #require(Timestamp(text))
            return ScriptedEvent(position == 1 ? "B" : "A", id: EventID(high: 0, low: UInt64(position)), time: time)
        }
        return EventBatch.scripted(catalog: Self.catalog, events: events)
    }

    private func selected(_ filter: ReplayFilter) throws -> [UInt64] {
        filter.apply(to: try batch())?.entries.map(\.id.low) ?? []
    }

    @Test("selects events by name; without names, all")
    func names() throws {
        #expect(try selected(ReplayFilter()) == [0, 1, 2])
        #expect(try selected(ReplayFilter(events: ["B"])) == [1])
        #expect(try selected(ReplayFilter(events: ["A", "B"])) == [0, 1, 2])
        #expect(ReplayFilter(events: ["C"]).apply(to: try batch()) == nil)
    }

    @Test("includes the time since and excludes the time until, in any time zone")
    func times() throws {
        let first = Timestamp(Self.times[0])
        let last = Timestamp("2010-12-01T09:28:00+01:00")
        #expect(try selected(ReplayFilter(since: first, until: last)) == [0, 1])
        #expect(try selected(ReplayFilter(since: last)) == [2])
        #expect(try selected(ReplayFilter(until: first)) == [])
        #expect(try selected(ReplayFilter(events: ["A"], since: first, until: last)) == [0])
    }

    @Test("tells sources the range of times, which is never invalid")
    func range() throws {
        let (early, late) = (Timestamp(microseconds: 5), Timestamp(microseconds: 9))
        #expect(ReplayFilter(events: ["A"]).times == nil)
        #expect(ReplayFilter(since: early).times == 5...Int64.max)
        #expect(ReplayFilter(until: late).times == Int64.min...8)
        #expect(ReplayFilter(since: early, until: late).times == 5...8)
        #expect(ReplayFilter(since: late, until: early).times == 9...9)
    }

    @Test("leaves out a rejected event whose name is known and not selected")
    func rejections() {
        func rejection(_ name: String?) -> Rejection {
            Rejection(index: 0, id: nil, name: name, violations: [], original: [])
        }
        let filter = ReplayFilter(events: ["A"], since: Timestamp(microseconds: 5))
        #expect(filter.leavesOut(rejection("B")))
        #expect(!filter.leavesOut(rejection("A")))
        #expect(!filter.leavesOut(rejection(nil)))
        #expect(!ReplayFilter().leavesOut(rejection("B")))
    }

    @Test("with a name that the plan does not have is an error that names the first one")
    func unknownName() throws {
        try ReplayFilter(events: ["A", "B"]).check(against: Self.catalog)
        let error = #expect(throws: SelectionError.self) {
            try ReplayFilter(events: ["A", "Z", "C"]).check(against: Self.catalog)
        }
        #expect(error?.message == "The plan has no event 'C'.")
    }
}
