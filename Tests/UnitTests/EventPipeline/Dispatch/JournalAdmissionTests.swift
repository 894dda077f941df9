import EventJournal
import EventPipeline
import PipelineTestSupport
import SluiceTesting
import TestPromises
import Testing

@Suite("Admission to the journal")
struct JournalAdmissionTests {
    private let alpha: TrackerIndex = 0

    @Test(
        "what may not wait is rejected while a queue's worth of events is on its way to the journal",
        .promise("no-room")
    )
    func limitOfEvents() {
        let harness = DispatchStateHarness(.small(fullPolicy: .spill), hasJournal: true)
        #expect(harness.offer(8, "A").isCommitting)
        #expect(harness.offer(3, "A") == .rejected(.full))
        #expect(harness.offer(2, "B").isCommitting)
        #expect(harness.offer(1, "None") == .rejected(.full))
        harness.commitNext()
        #expect(harness.offer(8, "A").isCommitting)
        #expect(harness.offer(1, "A") == .rejected(.full))
    }

    @Test("the same holds for bytes; a batch larger than the limit is committed alone")
    func limitOfBytes() {
        let harness = DispatchStateHarness(.small(capacityInBytes: 1, fullPolicy: .spill), hasJournal: true)
        #expect(harness.offer(1, "A").isCommitting)
        #expect(harness.offer(1, "A") == .rejected(.full))
        harness.failNext()
        #expect(harness.offer(20, "A").isCommitting)
    }

    @Test(
        "while it runs, nothing more goes to a journal that is full or cannot be written; before, each batch tries it anew",
        arguments: [JournalError.Code.full, .unwritable]
    )
    func unwritable(code: JournalError.Code) {
        let harness = DispatchStateHarness(.small(fullPolicy: .spill), hasJournal: true)
        #expect(harness.offer(1, "A").isCommitting)
        harness.failNext(code)
        #expect(harness.offer(1, "A").isCommitting)
        harness.failNext(code)
        harness.start()
        #expect(harness.offer(1, "A").isNotStored)
    }

    @Test(
        "a flush waits for events on their way to the journal and for their delivery, and for nothing later",
        .promise("flush")
    )
    func flush() throws {
        let harness = DispatchStateHarness(.small(fullPolicy: .spill), hasJournal: true)
        harness.start()
        #expect(harness.offer(1, "A").isCommitting)
        let isOver = harness.flush(number: 1)
        #expect(harness.offer(1, "A").isCommitting)
        #expect(!isOver())
        harness.commitNext()
        #expect(!isOver())
        harness.settle(alpha, try #require(harness.delivery(alpha)))
        #expect(isOver())
    }

    @Test("a flush does not wait for events that the journal rejected")
    func flushAfterFailure() {
        let harness = DispatchStateHarness(.small(fullPolicy: .spill), hasJournal: true)
        harness.start()
        #expect(harness.offer(1, "A").isCommitting)
        let isOver = harness.flush(number: 1)
        #expect(!isOver())
        harness.failNext()
        #expect(isOver())
    }

    @Test("a flush that is cancelled while it waits for the journal returns, and stays finished")
    func abandonedFlush() {
        let harness = DispatchStateHarness(.small(fullPolicy: .spill), hasJournal: true)
        harness.start()
        #expect(harness.offer(1, "A").isCommitting)
        let isOver = harness.flush(number: 1)
        harness.act { state, actions in state.abandonFlush(number: 1, actions: &actions) }
        #expect(isOver())
        harness.commitNext()
        #expect(harness.actions.flushed.isEmpty)
    }

    @Test("a flush waits for the batches before it even if later batches are withdrawn")
    func flushAndWithdrawal() throws {
        let harness = DispatchStateHarness(.small(fullPolicy: .spill), hasJournal: true)
        harness.start()
        harness.submit(1, "A", number: 1)
        harness.submit(1, "A", number: 2)
        let isOver = harness.flush(number: 1)
        for number in 3...5 { #expect(harness.withdraw(harness.submit(1, "A", number: number)) == .uncommitted) }
        #expect(throws: TrackError.cancelled) { try harness.result(of: 4)?.get() }
        harness.commitNext()
        harness.settle(alpha, try #require(harness.delivery(alpha)))
        #expect(!isOver())
        harness.commitNext()
        harness.settle(alpha, try #require(harness.delivery(alpha)))
        #expect(isOver())
    }

    @Test("a withdrawn batch frees its room, and is not written")
    func withdrawal() {
        let harness = DispatchStateHarness(.small(capacityInEvents: 2), hasJournal: true)
        let first = harness.submit(1, "A", number: 1)
        harness.submit(1, "A", number: 2)
        harness.submit(1, "A", number: 3)
        harness.beginCommit()
        #expect(harness.withdraw(first) == .committing)
        #expect(harness.result(of: 1) == nil)
        harness.endCommit()
        #expect(harness.withdraw(first) == .decided)
        #expect(harness.isAcknowledged(1))
        // The third waited for the room in the queue that the second keeps.
        #expect(harness.state.statistics(now: harness.now).waitingBatches == 1)
        #expect(harness.withdraw(.committing(number: 2)) == .uncommitted)
        #expect(harness.state.statistics(now: harness.now).waitingBatches == 0)
        harness.commitNext()
        #expect(harness.isAcknowledged(3))
        #expect(harness.state.published == 2)
    }

    @Test("an accepted batch is counted until its commit ends")
    func counted() {
        let harness = DispatchStateHarness(.small(capacityInEvents: 10), hasJournal: true)
        harness.start()
        #expect(harness.submit(1, "A").isCommitting)
        #expect(harness.submit(1, "A").isCommitting)
        #expect(harness.state.statistics(now: harness.now).committingBatches == 2)
        harness.commitNext()
        #expect(harness.state.statistics(now: harness.now).committingBatches == 1)
        harness.commitNext()
        #expect(harness.state.statistics(now: harness.now).committingBatches == 0)
    }

    @Test("whatever the journal's thread waits for, it is overdue after the time limit of a commit")
    func overdue() {
        var configuration = Pipeline.Configuration.small(fullPolicy: .spill)
        configuration.commitOverdueAfter = .seconds(2)
        let harness = DispatchStateHarness(configuration, hasJournal: true)
        harness.start()
        harness.act { state, _ in state.journalHealth.diskBegan(now: .seconds(1)) }
        harness.now = .milliseconds(2999)
        #expect(harness.state.unreadyReasons(now: harness.now) == [])
        #expect(harness.offer(1, "A").isCommitting)
        harness.now = .seconds(3)
        #expect(harness.state.unreadyReasons(now: harness.now) == [.commitOverdue])
        #expect(harness.offer(1, "A").isNotStored)
        #expect(harness.submit(1, "A").isNotStored)
        harness.act { state, _ in state.journalHealth.diskEnded() }
        #expect(harness.state.unreadyReasons(now: harness.now) == [])
        #expect(harness.offer(1, "A").isCommitting)
    }
}

extension DispatchState.Admission {
    fileprivate var isCommitting: Bool { if case .committing = self { true } else { false } }
    fileprivate var isNotStored: Bool {
        switch self {
        case .rejected(let error): error.code == .notStored
        case .overdue: true
        case .acknowledged, .committing, .delivering, .waiting: false
        }
    }
}
