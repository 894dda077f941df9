import Foundation
import SluiceTesting
import Synchronization

/// A gate that blocks threads while a test keeps it closed.
package final class Gate: Sendable {
    private let condition = NSCondition()
    private let isClosed: Mutex<Bool>
    private let waiting = Watched(0)

    package init(isClosed: Bool = false) {
        self.isClosed = Mutex(isClosed)
    }

    /// The number of threads that wait for it.
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

    /// Runs `body`, then opens the gate, even if `body` fails; if the task is cancelled, opens it at once.
    ///
    /// Otherwise a blocked thread would keep the test from ending.
    package func openAfter<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        defer { open() }
        return try await withTaskCancellationHandler {
            try await body()
        } onCancel: {
            open()
        }
    }

    /// Waits until the gate is open, on a thread that may block.
    package func pass() {
        condition.lock()
        defer { condition.unlock() }
        guard isClosed.withLock({ $0 }) else { return }
        waiting.update { $0 += 1 }
        while isClosed.withLock({ $0 }) { condition.wait() }
        waiting.update { $0 -= 1 }
    }

    /// Waits until a thread waits for the gate.
    package func waitForSomebody() async {
        await waiting.wait { $0 > 0 }
    }
}
