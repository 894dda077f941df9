import Foundation
import SluiceTesting
import Synchronization

/// Where threads stop while a test keeps it closed.
package final class Gate: Sendable {
    private let condition = NSCondition()
    private let isClosed: Mutex<Bool>
    private let waiting = Watched(0)

    package init(isClosed: Bool = false) {
        self.isClosed = Mutex(isClosed)
    }

    /// How many threads stand before it.
    package var waitingCount: Int { waiting.value }

    package func close() {
        isClosed.withLock { $0 = true }
    }

    package func open() {
        condition.lock()
        isClosed.withLock { $0 = false }
        condition.broadcast()
        condition.unlock()
    }

    /// Runs `body` and opens the gate then, also where it fails; where it is cancelled, at once.
    ///
    /// A thread that nobody lets through would keep the test from ending.
    package func openAfter<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        defer { open() }
        return try await withTaskCancellationHandler {
            try await body()
        } onCancel: {
            open()
        }
    }

    /// Goes through, on a thread that may block.
    package func pass() {
        condition.lock()
        defer { condition.unlock() }
        guard isClosed.withLock({ $0 }) else { return }
        waiting.update { $0 += 1 }
        while isClosed.withLock({ $0 }) { condition.wait() }
        waiting.update { $0 -= 1 }
    }

    /// Waits until a thread stands before it.
    package func waitForSomebody() async {
        await waiting.wait { $0 > 0 }
    }
}
