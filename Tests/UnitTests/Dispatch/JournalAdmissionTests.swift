import EventPipeline
import Journal
import PipelineTestKit
import Testing

@Suite("Admission to the journal")
struct JournalAdmissionTests {
    private let alpha = 0

    @Test("what may not wait is turned down while a queue's worth is on its way to the journal, by events")
    func limitOfEvents() {
        let harness = DispatchStateHarness(.small(fullPolicy: .spill), hasJournal: true)
        #expect(harness.offer(8, "A") == .admitted)
        #expect(harness.offer(3, "A") == .full)
        #expect(harness.offer(2, "B") == .admitted)
        #expect(harness.offer(1, "None") == .full)
        harness.commitNext()
        #expect(harness.offer(8, "A") == .admitted)
        #expect(harness.offer(1, "A") == .full)
    }

    @Test("and by bytes; a batch that is larger than the limit goes alone")
    func limitOfBytes() {
        let harness = DispatchStateHarness(.small(capacityInBytes: 1, fullPolicy: .spill), hasJournal: true)
        #expect(harness.offer(1, "A") == .admitted)
        #expect(harness.offer(1, "A") == .full)
        harness.failNext()
        #expect(harness.offer(20, "A") == .admitted)
    }

    @Test(
        "while it runs, nothing more goes to a journal that is full or cannot be written; before, each batch tries it anew",
        arguments: [JournalError.Code.full, .unwritable]
    )
    func unwritable(code: JournalError.Code) {
        let harness = DispatchStateHarness(.small(fullPolicy: .spill), hasJournal: true)
        #expect(harness.offer(1, "A") == .admitted)
        harness.failNext(code)
        #expect(harness.offer(1, "A") == .admitted)
        harness.failNext(code)
        harness.start()
        #expect(harness.offer(1, "A") == .notStored)
    }

    @Test("a flush waits for what is on its way to the journal, and then for its delivery, but for nothing later")
    func flush() throws {
        let harness = DispatchStateHarness(.small(fullPolicy: .spill), hasJournal: true)
        harness.start()
        #expect(harness.offer(1, "A") == .admitted)
        let isOver = harness.flush(number: 1)
        #expect(harness.offer(1, "A") == .admitted)
        #expect(!isOver())
        harness.commitNext()
        #expect(!isOver())
        harness.settle(alpha, try #require(harness.delivery(alpha)))
        #expect(isOver())
    }

    @Test("a flush does not wait for what the journal turned down")
    func flushAfterFailure() {
        let harness = DispatchStateHarness(.small(fullPolicy: .spill), hasJournal: true)
        harness.start()
        #expect(harness.offer(1, "A") == .admitted)
        let isOver = harness.flush(number: 1)
        #expect(!isOver())
        harness.failNext()
        #expect(isOver())
    }

    @Test("a flush that is given up while it waits for the journal is over, and stays so")
    func abandonedFlush() {
        let harness = DispatchStateHarness(.small(fullPolicy: .spill), hasJournal: true)
        harness.start()
        #expect(harness.offer(1, "A") == .admitted)
        let isOver = harness.flush(number: 1)
        harness.act { state, actions in actions = state.abandonFlush(number: 1) }
        #expect(isOver())
        harness.commitNext()
        #expect(harness.actions.flushed.isEmpty)
    }
}
