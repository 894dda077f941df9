import EventJournal
import EventModel
import SluicePostgres
import Testing
import TrackerKit

@Suite struct CheckpointMemoryTests {
    private let journal = JournalID()

    private func sent(_ number: UInt64) -> Checkpoint { Checkpoint(journal: journal, nextSequence: number) }

    @Test("a checkpoint is known after it was requested or committed, and unknown before")
    func known() {
        var memory = CheckpointMemory()
        #expect(memory.known(of: journal) == nil)
        memory.asked(about: journal, answer: nil)
        #expect(memory.known(of: journal) == .some(nil))
        memory.sends(sent(5))
        memory.ended(sent(5), isStored: true)
        #expect(memory.known(of: journal) == .some(5))
        memory.sends(sent(3))
        memory.ended(sent(3), isStored: false)
        #expect(memory.known(of: journal) == .some(5))
    }

    @Test(
        "after a commit with a lost response, the old number means unchanged, the new one committed, and any other superseded",
        arguments: [
            (UInt64?.some(5), CheckpointMemory.Finding.unchanged), (7, .committed), (6, .superseded),
            (nil, .superseded),
        ]
    )
    func inDoubt(stored: UInt64?, finding: CheckpointMemory.Finding) {
        var memory = CheckpointMemory()
        memory.asked(about: journal, answer: 5)
        memory.sends(sent(7))
        #expect(memory.found(stored, in: journal) == finding)
        #expect(memory.isSuperseded(in: journal) == (finding == .superseded))
        #expect(memory.known(of: journal) == (finding == .superseded ? nil : .some(stored)))
    }

    @Test("a checkpoint that was rolled back counts as superseded if another process stores the same number")
    func rolledBack() {
        var memory = CheckpointMemory()
        memory.asked(about: journal, answer: 5)
        memory.sends(sent(7))
        memory.ended(sent(7), isStored: false)
        #expect(memory.found(7, in: journal) == .superseded)
    }

    @Test("a superseded session stays superseded until its checkpoint is requested again")
    func superseded() {
        var memory = CheckpointMemory()
        memory.asked(about: journal, answer: 5)
        memory.supersede(in: journal)
        memory.sends(sent(6))
        memory.ended(sent(6), isStored: true)
        #expect(memory.isSuperseded(in: journal))
        #expect(memory.found(5, in: journal) == .superseded)
        memory.asked(about: journal, answer: 9)
        #expect(memory.known(of: journal) == .some(9))
        #expect(!memory.isSuperseded(in: journal))
    }
}
