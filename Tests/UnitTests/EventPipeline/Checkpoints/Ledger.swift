import EventJournal
import EventModel
import PipelineTestSupport
import SluiceTesting
import Synchronization
import TrackerKit

/// A destination that stores events and the checkpoint in one step, knows no ids, and so shows every repetition.
final class Ledger: Sendable {
    struct State: Sendable {
        var numbers: [Int] = []
        var checkpoint: UInt64?
        /// The checkpoint of each delivery, in order, stored or not.
        var asked: [UInt64?] = []
        var journals: Set<JournalID> = []
    }

    let state: Watched<State>

    init(_ state: State = State()) {
        self.state = Watched(state)
    }

    var numbers: [Int] { state.value.numbers }
    var checkpoint: UInt64? { state.value.checkpoint }

    func waitForNumbers(_ count: Int) async {
        await state.wait { $0.numbers.count >= count }
    }

    /// What it holds, and what a crashed machine's disk would, at one moment between two transactions.
    func crashedCopy(with files: SimulatedFileSystem) -> (Ledger, SimulatedFileSystem) {
        let crashed = state.update { ($0, files.crashedCopy()) }
        return (Ledger(crashed.0), crashed.1)
    }
}

/// A tracker that keeps a ledger, and does with each delivery what a test tells it.
final class LedgerTracker: CheckpointingTracker {
    enum Act: Sendable {
        case succeed
        case fail
        /// Stores everything, and does not hear of it.
        case succeedUnheard
        case refuse([Int])
        case failPartly([Int])
        /// Another process has delivered the first of these events.
        case overtaken
        /// What the destination had from this event on is lost, as after a restore.
        case restored(before: Int)
    }

    let name = "alpha"
    let ledger: Ledger
    private let acts: Mutex<[Act]>
    private let answerErrors: Mutex<[TrackerError]>
    private let isInDoubt = Atomic(false)

    init(_ ledger: Ledger, _ acts: [Act] = [], answerErrors: [TrackerError] = []) {
        self.ledger = ledger
        self.acts = Mutex(acts)
        self.answerErrors = Mutex(answerErrors)
    }

    func checkpoint(ofJournal journal: JournalID) async throws(TrackerError) -> UInt64? {
        let error = answerErrors.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        if let error { throw error }
        return ledger.state.update { state in
            state.journals.insert(journal)
            return state.checkpoint
        }
    }

    func deliver(_ delivery: Delivery) async -> DeliveryOutcome {
        let act = acts.withLock { $0.isEmpty ? .succeed : $0.removeFirst() }
        let checkpoint = delivery.checkpoint?.nextSequence
        ledger.state.update { $0.asked.append(checkpoint) }
        if isInDoubt.exchange(false, ordering: .relaxed), ledger.checkpoint == checkpoint { return .delivered }
        switch act {
        case .succeed:
            store(delivery, without: [], checkpoint)
            return .delivered
        case .fail:
            return .retry(ScriptedTracker.outage)
        case .succeedUnheard:
            store(delivery, without: [], checkpoint)
            isInDoubt.store(true, ordering: .relaxed)
            return .retry(ScriptedTracker.outage)
        case .refuse(let positions):
            let positions = positions.filter { $0 < delivery.count }
            store(delivery, without: positions, positions.isEmpty ? checkpoint : nil)
            return .refused(positions.map { .init(position: $0, reason: "as scripted") })
        case .failPartly(let positions):
            let positions = positions.filter { $0 < delivery.count }
            store(delivery, without: positions, positions.isEmpty ? checkpoint : nil)
            return DeliveryOutcome(retry: .init(positions: positions, reason: ScriptedTracker.outage))
        case .overtaken:
            ledger.state.update { state in
                let first = delivery.first { _ in true }.map(\.number) ?? 0
                state.numbers.append(first)
                // In these tests an event's number is its place in the journal.
                state.checkpoint = UInt64(first + 1)
            }
            return .retry(Self.superseded)
        case .restored(let number):
            ledger.state.update { state in
                state.numbers.removeAll { $0 >= number }
                state.checkpoint = UInt64(state.numbers.count)
            }
            return .retry(Self.superseded)
        }
    }

    private static let superseded = TrackerError(
        code: .superseded,
        message: "Another process stored its place.",
        isRetryable: false
    )

    private func store(_ delivery: Delivery, without left: [Int], _ checkpoint: UInt64?) {
        let numbers = delivery.map(\.number).enumerated().filter { !left.contains($0.offset) }.map(\.element)
        ledger.state.update { state in
            state.numbers += numbers
            state.checkpoint = checkpoint ?? state.checkpoint
        }
    }
}
