import EventJournal
import EventModel
import EventPipeline
import EventValidation
import Testing

/// Settings whose kinds may grow can still be read and printed.
@Suite
struct SettingReadingTests {
    @Test("a durability's interval and description can be read")
    func durability() {
        typealias Durability = JournalConfiguration.Durability
        #expect(Durability.interval(.seconds(2)).syncInterval == .seconds(2))
        #expect(Durability.fsync.syncInterval == nil)
        #expect(
            [.fsync, .none, Durability.interval(.seconds(2))].map(\.description) == [
                "fsync", "none", "interval(2.0 seconds)",
            ]
        )
    }

    @Test("a journal start's time and description can be read")
    func journalStart() {
        let time = Timestamp(microseconds: 0)
        #expect(JournalStart.time(time).time == time)
        #expect(JournalStart.end.time == nil)
        #expect(
            [.beginning, .end, JournalStart.time(time)].map(\.description) == [
                "beginning", "end", time.description,
            ]
        )
    }

    @Test("an event identity's source and description can be read")
    func eventIdentity() {
        #expect(EventIdentity.derived(source: "day.log").source == "day.log")
        #expect(EventIdentity.assigned.source == nil)
        #expect(
            [.assigned, EventIdentity.derived(source: "day.log")].map(\.description) == [
                "assigned", "derived(source: day.log)",
            ]
        )
    }

    @Test("the codes of errors have the stable text as raw value")
    func codes() {
        #expect(TrackError.Code.notStored.rawValue == "not-stored")
        #expect(PipelineError.Code.alreadyRun.rawValue == "already-run")
    }
}
