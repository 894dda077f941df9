import Loader
import SluiceKafka
import TestCases
import TrackerKit

/// A topic whose offsets have gaps, to which records are written.
final class SimulatedTopic {
    private(set) var log: [[LoaderSimulation.Record]] = []
    /// The offset after the last record of each partition, and after what belongs to no record.
    private(set) var ends: [Int64] = []

    /// Each partition begins with a record.
    init(partitions: Int, _ random: inout SeededGenerator) {
        for partition in 0..<partitions {
            log.append([])
            ends.append(Int64.random(in: 0..<5, using: &random))
            write(to: partition, &random)
        }
    }

    func write(to partition: Int, _ random: inout SeededGenerator) {
        var offset = ends[partition]
        if Int.random(in: 0..<8, using: &random) == 0 { offset += Int64.random(in: 1..<4, using: &random) }
        let isPoison = Int.random(in: 0..<15, using: &random) == 0
        log[partition].append(LoaderSimulation.Record(offset: offset, isPoison: isPoison))
        ends[partition] = offset + 1 + Int64.random(in: 0..<2, using: &random)
    }

    func watermarks(of partition: Int) -> KafkaConsumer.Watermarks {
        KafkaConsumer.Watermarks(low: log[partition][0].offset, high: ends[partition])
    }
}

/// The queues of a member's consumer; it loses its place, stops reading, and refuses to seek.
final class SimulatedConsumer {
    private let topic: SimulatedTopic
    private var random: SeededGenerator
    /// Where each assigned partition is read; `nil` before it was sought.
    private var positions: [Int32: Int64?] = [:]
    private var stopped: Set<Int32> = []
    /// The partitions that were sought and have not been read since.
    private var sought: Set<Int32> = []
    /// The ends that were reported last.
    private var reportedEnds: [Int32: Int64] = [:]
    var isCalm = false

    init(of topic: SimulatedTopic, seed: UInt64) {
        self.topic = topic
        random = SeededGenerator(seed: seed)
    }

    private func chance(_ percent: Int) -> Bool { !isCalm && Int.random(in: 0..<100, using: &random) < percent }

    func assign(_ numbers: [Int32]) {
        positions = Dictionary(uniqueKeysWithValues: numbers.map { ($0, nil) })
        stopped = []
        sought = []
        reportedEnds = [:]
    }

    func seek(_ number: Int32, to offset: Int64) -> KafkaConsumer.SeekResult {
        if stopped.contains(number) || positions[number] == nil { return .refused }
        if chance(5) { return .uncertain }
        positions[number] = offset
        sought.insert(number)
        reportedEnds[number] = nil
        return .done
    }

    func next(_ number: Int32) -> PartitionMessage<LoaderSimulation.Record>? {
        guard var position = positions[number] ?? nil, !stopped.contains(number) else { return nil }
        if chance(1) {
            stopped.insert(number)
            return .outOfRange
        }
        if chance(1) { return .failed(.failure) }
        // The client may lose its place, but not just after it was told where to continue.
        if chance(1), !sought.contains(number) { position += Int64.random(in: -3..<4, using: &random) }
        guard let record = topic.log[Int(number)].first(where: { $0.offset >= position }) else {
            positions[number] = position
            let end = topic.ends[Int(number)]
            return reportedEnds.updateValue(end, forKey: number) == end ? nil : .end(end)
        }
        positions[number] = record.offset + 1
        sought.remove(number)
        return .record(record)
    }
}

extension TrackerError {
    static let failure = TrackerError(code: .unavailable, message: "no answer", isRetryable: true)
}
