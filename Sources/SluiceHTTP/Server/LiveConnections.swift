import NIOCore
import Synchronization

/// The open connections and streams: enforces their limits, and closes them at shutdown.
final class LiveConnections: Sendable {
    /// How to handle a new connection or stream.
    enum Admission: Equatable {
        /// Its requests are answered.
        case serve
        /// It gets 503 and is closed.
        case refuse(Limit)
        /// It is closed without a response.
        case drop
    }

    /// Why a connection is refused.
    enum Limit {
        /// There are too many connections and streams, or they have too little memory.
        case all
        /// There are too many connections from its address.
        case address
    }

    /// The maximum number of connections and streams that are being refused at one time.
    static let maximumRefusals = 128

    private struct State {
        var served: [ObjectIdentifier: any Channel] = [:]
        var refused: [ObjectIdentifier: any Channel] = [:]
        /// The number of connections among them, without streams.
        var connections = 0
        /// The number of served connections and streams from each address.
        var addresses: [NetworkRange.Address: Int] = [:]
        /// Set when the shutdown begins, and fulfilled when the last connection is closed.
        var emptied: EventLoopPromise<Void>?

        var channels: [any Channel] { Array(served.values) + Array(refused.values) }
    }

    private let limit: Int
    private let limitPerAddress: Int
    private let budget: MemoryBudget
    private let state = Mutex(State())

    init(limit: Int, limitPerAddress: Int, budget: MemoryBudget) {
        self.limit = limit
        self.limitPerAddress = limitPerAddress
        self.budget = budget
    }

    /// Decides about a new connection, which is counted until it closes, unless it is dropped.
    ///
    /// `address` is the address of the sender, or `nil` if no limit per address applies, such as for a proxy.
    func admit(_ channel: any Channel, from address: SocketAddress?) -> Admission {
        let address = address.flatMap { NetworkRange.Address($0)?.sender }
        let admission = state.withLock { state -> Admission in
            guard state.emptied == nil else { return .drop }
            return admit(channel, limit: limit(for: address, in: state), &state) { state in
                state.connections += 1
                if let address { state.addresses[address, default: 0] += 1 }
            }
        }
        countUntilClosed(channel, admission) { state in
            state.connections -= 1
            Self.removeOne(from: address, in: &state)
        }
        return admission
    }

    /// Decides again about a connection that was admitted as one of a proxy, once the proxy has stated the sender's address.
    func readmit(_ channel: any Channel, from address: SocketAddress?) -> Admission {
        guard let address = address.flatMap({ NetworkRange.Address($0)?.sender }) else { return .serve }
        let id = ObjectIdentifier(channel)
        let admission = state.withLock { state -> Admission in
            guard state.addresses[address, default: 0] >= limitPerAddress else {
                state.addresses[address, default: 0] += 1
                return .serve
            }
            guard state.served.removeValue(forKey: id) != nil else { return .drop }
            state.connections -= 1
            budget.release(MemoryBudget.bytesPerConnection)
            guard state.refused.count < Self.maximumRefusals else { return .drop }
            state.refused[id] = channel
            return .refuse(.address)
        }
        if admission == .serve {
            channel.closeFuture.whenComplete { [self] _ in state.withLock { Self.removeOne(from: address, in: &$0) } }
        }
        return admission
    }

    /// Decides about a stream of a connection that is served; it takes as much memory as a connection, and counts like one.
    ///
    /// A shutdown waits for the connection, so streams that begin before its end are served.
    ///
    /// `address` is the address of the sender, or `nil` if no limit per address applies.
    func admit(stream: any Channel, from address: SocketAddress?) -> Admission {
        let address = address.flatMap { NetworkRange.Address($0)?.sender }
        let admission = state.withLock { state in
            admit(stream, limit: limit(for: address, in: state), &state) { state in
                if let address { state.addresses[address, default: 0] += 1 }
            }
        }
        countUntilClosed(stream, admission) { Self.removeOne(from: address, in: &$0) }
        return admission
    }

    /// Why a further connection or stream is refused; `nil` if it is served.
    private func limit(for address: NetworkRange.Address?, in state: State) -> Limit? {
        if let address, state.addresses[address, default: 0] >= limitPerAddress { return .address }
        return state.served.count < limit ? nil : .all
    }

    private static func removeOne(from address: NetworkRange.Address?, in state: inout State) {
        guard let address, let count = state.addresses[address] else { return }
        state.addresses[address] = count > 1 ? count - 1 : nil
    }

    private func admit(
        _ channel: any Channel,
        limit: Limit?,
        _ state: inout State,
        counting count: (inout State) -> Void
    ) -> Admission {
        var limit = limit
        if limit == nil, !budget.reserve(MemoryBudget.bytesPerConnection) { limit = .all }
        guard let limit else {
            state.served[ObjectIdentifier(channel)] = channel
            count(&state)
            return .serve
        }
        guard state.refused.count < Self.maximumRefusals else { return .drop }
        state.refused[ObjectIdentifier(channel)] = channel
        return .refuse(limit)
    }

    private func countUntilClosed(
        _ channel: any Channel,
        _ admission: Admission,
        uncounting uncount: @escaping @Sendable (inout State) -> Void
    ) {
        guard admission != .drop else { return }
        let id = ObjectIdentifier(channel)
        channel.closeFuture.whenComplete { [self] _ in
            let emptied = state.withLock { state in
                if state.served.removeValue(forKey: id) != nil {
                    budget.release(MemoryBudget.bytesPerConnection)
                    uncount(&state)
                }
                state.refused[id] = nil
                return state.served.isEmpty && state.refused.isEmpty ? state.emptied : nil
            }
            emptied?.succeed()
        }
    }

    /// The number of connections that are served, without streams.
    var count: Int { state.withLock { $0.connections } }

    /// Whether the shutdown has begun.
    var isDraining: Bool { state.withLock { $0.emptied != nil } }

    /// Lets each connection finish its requests, and waits until all are closed.
    ///
    /// - Returns: The number of connections and streams that were cut because they took longer than `timeout`.
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
}
