import Synchronization

/// Builders for events that are tracked one by one: each call has one to itself, so that none waits for another's event.
final class BuilderPool: Sendable {
    /// So many are kept; more are made where more are wanted at one time.
    private static let capacity = 16

    // Safe to share: whoever took it out of the pool is the only one that has it.
    private final class Holder: @unchecked Sendable {
        var builder: EventBatchBuilder

        init(_ builder: consuming EventBatchBuilder) {
            self.builder = builder
        }
    }

    private let resting = Mutex<[Holder]>([])
    private let make: @Sendable () -> EventBatchBuilder

    /// `make` makes a builder without events.
    init(_ make: @escaping @Sendable () -> EventBatchBuilder) {
        self.make = make
    }

    /// Runs `body` with a builder that has no events, and has none afterwards.
    func withBuilder<Result>(
        _ body: (inout EventBatchBuilder) throws(InvalidEvent) -> Result
    ) throws(InvalidEvent) -> Result {
        let holder = resting.withLock { $0.popLast() } ?? Holder(make())
        defer {
            resting.withLock { resting in
                if resting.count < Self.capacity { resting.append(holder) }
            }
        }
        return try body(&holder.builder)
    }
}
