import EventModel
import Foundation
import TestCases
import TestSupport

/// Writes purchases to a topic, with records in between that nobody can load.
struct ChaosProducer {
    /// What is wrong with a record that must be refused; the header `poison` says it.
    enum Poison: String, CaseIterable {
        case noJSON, unknownEvent, invalidValue, refusedByServer, characterZero, lineBreak, tombstone
    }

    static let header = "poison"
    /// The table has a constraint against it.
    static let refusedPrice = 66.6
    /// One record in so many is poison.
    private static let distance = 40

    let topic: SharedTopic
    let recordsInSecond: Int

    /// Writes for a while, at a constant rate, whatever happens to the brokers; returns the ids of the events that can be loaded.
    func run(for time: Duration, seed: UInt64) async throws -> [String] {
        let clock = RelativeClock(ContinuousClock())
        let writer = try topic.writer()
        var random = SeededGenerator(seed: seed)
        var ids: [String] = []
        var written = 0
        let start = clock.now()
        while clock.now() - start < time {
            let due = Int((clock.now() - start) / .milliseconds(1)) * recordsInSecond / 1000
            var records: [KafkaRecordDraft] = []
            while written < due {
                let record = makeRecord(&random)
                if let id = record.id { ids.append(id) }
                records.append(record.draft)
                written += 1
            }
            try await writer.send(records)
            try await clock.sleepUntil(clock.now() + .milliseconds(50))
        }
        try await writer.flush()
        return ids
    }

    private static func makeID(_ random: inout SeededGenerator) -> String {
        let digits = (0..<2).map { _ in
            let word = String(random.next(), radix: 16)
            return String(repeating: "0", count: 16 - word.count) + word
        }.joined()
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(Array(digits)[$0]) }
        return parts.joined(separator: "-")
    }

    private func makeRecord(_ random: inout SeededGenerator) -> (draft: KafkaRecordDraft, id: String?) {
        let id = Self.makeID(&random)
        let partition = Int32.random(in: 0..<topic.partitions, using: &random)
        let user = "\(Int.random(in: 1...1000, using: &random))"
        guard Int.random(in: 0..<Self.distance, using: &random) == 0,
            let kind = Poison.allCases.randomElement(using: &random)
        else {
            return (LoadScene.purchase(id: id, partition: partition, user: user), id)
        }
        var draft = LoadScene.purchase(id: id, partition: partition, user: user)
        switch kind {
        case .noJSON: draft.value = Array("{\"id\":\"\(id)\",".utf8)
        case .unknownEvent:
            draft.value = Array("{\"id\":\"\(id)\",\"name\":\"Unheard Of\",\"payload\":{}}".utf8)
        case .invalidValue: draft.value = LoadScene.purchase(id: id, partition: 0, quantity: 0).value
        case .refusedByServer:
            draft.value = LoadScene.purchase(id: id, partition: 0, price: Self.refusedPrice).value
        case .characterZero: draft.value = LoadScene.purchase(id: id, partition: 0, description: "A\\u0000B").value
        case .lineBreak: draft.value?.insert(UInt8(ascii: "\n"), at: 1)
        case .tombstone: draft.value = nil
        }
        draft.headers.append(.init(name: Self.header, value: kind.rawValue))
        return (draft, nil)
    }
}
