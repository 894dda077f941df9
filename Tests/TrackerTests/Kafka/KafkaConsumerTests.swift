import Logging
import SluiceKafka
import TestSupport
import Testing
import TrackerKit

@Suite(.timeLimit(.minutes(5))) struct KafkaConsumerTests {
    private let cluster: MockKafkaCluster
    private let wakeup: Wakeup

    init() throws {
        cluster = try MockKafkaCluster()
        try cluster.makeTopic("t", partitions: 2)
        wakeup = try Wakeup()
    }

    @Test("a consumer that gives back what it was just assigned stays in its group, and lets others join")
    func declines() async throws {
        let first = try subscribed(wakeup)
        defer { first.close() }
        _ = try await event(of: first) { if case .assigned = $0 { true } else { false } }
        first.unassign()
        let second = try subscribed(wakeup)
        defer { second.close() }
        // On a busy machine a member may lose its session, and join again.
        var shares: [Set<Int32>] = [[], []]
        var isRevoked = false
        while shares != [[0], [1]] && shares != [[1], [0]] {
            try Task.checkCancellation()
            for (index, consumer) in [first, second].enumerated() {
                switch consumer.poll() {
                case .assigned(let partitions): shares[index] = Set(partitions)
                case .revoked, .lost:
                    shares[index] = []
                    isRevoked = true
                default: continue
                }
                consumer.unassign()
            }
            wakeup.wait(milliseconds: 50)
            await Task.yield()
        }
        #expect(isRevoked)
    }

    @Test("a consumer that is closed before it takes an assignment over leaves its group and is freed")
    func closesUnanswered() async throws {
        weak var kept: Wakeup?
        do {
            let wakeup = try Wakeup()
            kept = wakeup
            let consumer = try subscribed(wakeup)
            _ = try await event(of: consumer) { if case .assigned = $0 { true } else { false } }
            consumer.close()
        }
        // A consumer that the brokers do not let go keeps it.
        #expect(kept == nil)
    }

    /// The client ends its part in the group while it is closed, and then drops what it is asked without an answer.
    @Test("a consumer that has not read its assignment is closed and freed")
    func closesUnread() throws {
        // Whether the client is asked in the wrong moment is chance.
        weak var kept: Wakeup?
        do {
            let members = try (0..<30).map { number in
                let wakeup = try Wakeup()
                return (consumer: try subscribed(wakeup, group: "g\(number)"), wakeup: wakeup)
            }
            kept = members.first?.wakeup
            for (consumer, wakeup) in members {
                wakeup.wait(milliseconds: 60_000)
                consumer.unsubscribe()
                consumer.close()
            }
        }
        #expect(kept == nil)
    }

    private func subscribed(_ wakeup: Wakeup, group: String = "g") throws -> KafkaConsumer {
        let configuration = ConsumerConfiguration(
            brokers: cluster.bootstrapServers,
            topic: "t",
            group: group,
            // The mock cluster takes a second less for each rebalance.
            properties: ["session.timeout.ms": "4000", "heartbeat.interval.ms": "400"]
        )
        let consumer = try KafkaConsumer(configuration, wakeup: wakeup, logger: Logger(label: "test"))
        try consumer.subscribe()
        return consumer
    }

    /// Waits for an event of a consumer, and drops those before it.
    private func event(
        of consumer: KafkaConsumer,
        where isWanted: (KafkaConsumer.GroupEvent) -> Bool
    ) async throws -> KafkaConsumer.GroupEvent {
        while true {
            try Task.checkCancellation()
            if let event = consumer.poll() {
                if isWanted(event) { return event }
            } else {
                wakeup.wait(milliseconds: 50)
                await Task.yield()
            }
        }
    }
}
