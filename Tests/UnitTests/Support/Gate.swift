import Foundation
import PipelineTestKit
import Synchronization

/// Where threads stop while a test keeps it closed.
final class Gate: Sendable {
    private let condition = NSCondition()
    private let isClosed: Mutex<Bool>
    private let waiting = Watched(0)

    init(isClosed: Bool = false) {
        self.isClosed = Mutex(isClosed)
    }

    /// How many threads stand before it.
    var waitingCount: Int { waiting.value }

    func close() {
        isClosed.withLock { $0 = true }
    }

    func open() {
        condition.lock()
        isClosed.withLock { $0 = false }
        condition.broadcast()
        condition.unlock()
    }

    /// Goes through, on a thread that may block.
    func pass() {
        condition.lock()
        defer { condition.unlock() }
        guard isClosed.withLock({ $0 }) else { return }
        waiting.update { $0 += 1 }
        while isClosed.withLock({ $0 }) { condition.wait() }
        waiting.update { $0 -= 1 }
    }

    /// Waits until a thread stands before it.
    func waitForSomebody() async {
        await waiting.wait { $0 > 0 }
    }
}
