import EventValidation
import Synchronization

/// Reusable builders for events that are tracked one by one.
///
/// Each call gets a builder of its own, so that no call waits for another's encoding, and events can track events.
final class BuilderPool: Sendable {
    /// How many idle builders are kept.
    private static let capacity = 16

    // Safe to share: only the call that took a holder out of the pool uses it.
    private final class Holder: @unchecked Sendable {
        var builder: EventBatchBuilder

        init(_ builder: consuming EventBatchBuilder) {
            self.builder = builder
        }
    }

    private let idle = Mutex<[Holder]>([])
    private let make: @Sendable () -> EventBatchBuilder

    /// `make` makes a builder without events.
    init(_ make: @escaping @Sendable () -> EventBatchBuilder) {
        self.make = make
    }

    /// Runs `body` with a builder without events; `body` must leave none in it.
    func withBuilder<Result>(
        _ body: (inout EventBatchBuilder) throws(InvalidEvent) -> Result
    ) throws(InvalidEvent) -> Result {
        let holder = idle.withLock { $0.popLast() } ?? Holder(make())
        defer {
            idle.withLock { idle in
                if idle.count < Self.capacity { idle.append(holder) }
            }
        }
        return try body(&holder.builder)
    }
}
