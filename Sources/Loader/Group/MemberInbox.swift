import SluiceKafka
import Synchronization
import TrackerKit

/// What other threads have for a member: results of operations, and the request to stop.
final class MemberInbox: Sendable {
    enum Item: Sendable {
        case ended(OperationTicket, OperationResult)
        /// The operations that were answered by one request to the brokers.
        case answered([(OperationTicket, OperationResult)])
        /// The offsets of partitions, for the lag, and why some are missing.
        case watermarks([Int32: KafkaConsumer.Watermarks], TrackerError?)
    }

    private struct State {
        var items: [Item] = []
        var isStopping = false
        var running = 0
    }

    private let state = Mutex(State())
    private let wakeup: Wakeup

    init(_ wakeup: Wakeup) {
        self.wakeup = wakeup
    }

    var isStopping: Bool { state.withLock { $0.isStopping } }
    /// How many operations are under way, those of earlier assignments included.
    var runningOperations: Int { state.withLock { $0.running } }

    /// Asks the member to give its partitions back and to end.
    func stop() {
        state.withLock { $0.isStopping = true }
        wakeup.signal()
    }

    /// Starts an operation, whose result will be an item.
    @discardableResult
    func start(_ operation: @escaping @Sendable () async -> Item) -> Task<Void, Never> {
        state.withLock { $0.running += 1 }
        let holder = OperationHolder(operation)
        return Task {
            let item = await holder.run()
            state.withLock { state in
                state.running -= 1
                state.items.append(item)
            }
            wakeup.signal()
        }
    }

    func takeAll() -> [Item] {
        state.withLock { state in
            defer { state.items = [] }
            return state.items
        }
    }
}

/// Releases an operation, and the records that it holds, before its end is known: then the consumer may be closed.
private final class OperationHolder: Sendable {
    private let operation: Mutex<(@Sendable () async -> MemberInbox.Item)?>

    init(_ operation: @escaping @Sendable () async -> MemberInbox.Item) {
        self.operation = Mutex(operation)
    }

    func run() async -> MemberInbox.Item {
        guard let operation = operation.withLock({ $0.take() }) else { return .watermarks([:], nil) }
        return await operation()
    }
}
