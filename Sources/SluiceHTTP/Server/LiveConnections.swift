import NIOCore
import Synchronization

/// The open connections: enforces their limit, and closes them at shutdown.
final class LiveConnections: Sendable {
    /// How to handle a new connection.
    enum Admission {
        /// Its requests are answered.
        case serve
        /// It gets 503 and is closed.
        case refuse
        /// It is closed without a response.
        case drop
    }

    /// The maximum number of connections that are being refused at one time.
    static let maximumRefusals = 128

    private struct State {
        var served: [ObjectIdentifier: any Channel] = [:]
        var refused: [ObjectIdentifier: any Channel] = [:]
        /// Set when the shutdown begins, and fulfilled when the last connection is closed.
        var emptied: EventLoopPromise<Void>?

        var channels: [any Channel] { Array(served.values) + Array(refused.values) }
    }

    private let limit: Int
    private let budget: MemoryBudget
    private let state = Mutex(State())

    init(limit: Int, budget: MemoryBudget) {
        self.limit = limit
        self.budget = budget
    }

    /// Decides about a new connection, which is counted until it closes, unless it is dropped.
    func admit(_ channel: any Channel) -> Admission {
        let admission = state.withLock { state -> Admission in
            guard state.emptied == nil else { return .drop }
            if state.served.count < limit, budget.reserve(MemoryBudget.bytesPerConnection) {
                state.served[ObjectIdentifier(channel)] = channel
                return .serve
            }
            guard state.refused.count < Self.maximumRefusals else { return .drop }
            state.refused[ObjectIdentifier(channel)] = channel
            return .refuse
        }
        if admission != .drop {
            channel.closeFuture.whenComplete { [self] _ in remove(ObjectIdentifier(channel)) }
        }
        return admission
    }

    /// Lets each connection finish its requests, and waits until all are closed.
    ///
    /// - Returns: The number of connections that were cut because they took longer than `timeout`.
    func drain(on eventLoop: any EventLoop, timeout: TimeAmount) async -> Int {
        let emptied = eventLoop.makePromise(of: Void.self)
        let channels = state.withLock { state in
            state.emptied = emptied
            return state.channels
        }
        if channels.isEmpty { emptied.succeed() }
        for channel in channels {
            channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
        let cut = Mutex(0)
        let deadline = eventLoop.scheduleTask(in: timeout) { [self] in
            let late = state.withLock { $0.channels }
            cut.withLock { $0 = late.count }
            for channel in late { channel.close(promise: nil) }
        }
        // The promise never fails.
        try? await emptied.futureResult.get()
        deadline.cancel()
        return cut.withLock { $0 }
    }

    private func remove(_ id: ObjectIdentifier) {
        let emptied = state.withLock { state in
            if state.served.removeValue(forKey: id) != nil { budget.release(MemoryBudget.bytesPerConnection) }
            state.refused[id] = nil
            return state.served.isEmpty && state.refused.isEmpty ? state.emptied : nil
        }
        emptied?.succeed()
    }
}
