import SluiceSocket
import SluiceTesting
import TestSupport
import Testing

@Suite("The tracker contract and receivers of lines", .timeLimit(.minutes(5)))
struct SocketContractTests {
    @Test("a receiver that disappears for a while meets the tracker contract")
    func disappearing() async throws {
        let receiver = try LineReceiver()
        try await TrackerContract(
            outage: .init(begin: { receiver.disappear() }, end: { try receiver.appear() }),
            makeTracker: { .socket(receiver.url, logger: SocketTracker.silent) },
            delivered: { SocketEvents.ids(in: receiver.lines) }
        ).verify()
    }

    @Test("a receiver that stops reading for a while meets the tracker contract")
    func stalling() async throws {
        let receiver = try LineReceiver(receiveBuffer: 4096)
        try await TrackerContract(
            outage: .init(begin: { receiver.stall() }, end: { receiver.resume() }),
            makeTracker: { .socket(receiver.url, logger: SocketTracker.silent) },
            delivered: { SocketEvents.ids(in: receiver.lines) }
        ).verify()
    }
}
