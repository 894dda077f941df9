import EventModel
package import Logging
import SluiceKafka
package import TrackerKit

/// Finds out how far a loader is, whichever processes run: positions from the trackers, offsets from Kafka.
package actor LoadSurvey {
    /// How long the records whose age is wanted may take to arrive.
    private static let readingTime = Duration.seconds(3)
    /// The properties that limit what is fetched of each partition, because only its next record is wanted.
    ///
    /// Brokers send a larger record in any case.
    private static let readingLimits = [
        "queued.max.messages.kbytes": "64", "queued.min.messages": "1", "max.partition.fetch.bytes": "65536",
    ]

    private let configuration: LoaderConfiguration
    private let logger: Logger
    private let thread: BlockingThread
    private let wakeup: Wakeup

    package nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// - Throws: `unavailable` if the system refuses a thread or a pipe.
    package init(_ configuration: LoaderConfiguration, logger: Logger) throws(TrackerError) {
        self.configuration = configuration
        self.logger = logger
        thread = try BlockingThread()
        wakeup = try Wakeup()
    }

    /// Asks about each tracker; the trackers need not have been started.
    ///
    /// If a tracker or Kafka does not answer, that is the tracker's problem in the status.
    package func status(of trackers: [any Tracker]) async -> LoaderStatus {
        var statuses: [LoaderStatus.Tracker] = []
        for tracker in trackers {
            do throws(TrackerError) {
                statuses.append(
                    LoaderStatus.Tracker(tracker: tracker.name, partitions: try await partitions(of: tracker))
                )
            } catch {
                statuses.append(LoaderStatus.Tracker(tracker: tracker.name, partitions: [], problem: "\(error)"))
            }
        }
        return LoaderStatus(loader: configuration.name, topic: configuration.topic, trackers: statuses)
    }

    private func partitions(of tracker: any Tracker) async throws(TrackerError) -> [LoaderStatus.Partition] {
        guard let storing = tracker as? any PartitionTracker else { return try await stored(inGroupOf: tracker.name) }
        return try await partitions(
            try await storing.loadedPartitions(ofLoader: configuration.name),
            of: tracker.name
        )
    }

    /// The partitions of a tracker without positions, whose group has stored offsets in Kafka.
    private func stored(inGroupOf tracker: String) async throws(TrackerError) -> [LoaderStatus.Partition] {
        let consumer = try consumer(forTracker: tracker)
        defer { consumer.close() }
        let offsets = try consumer.makeOffsetRequests()
        var positions: [Int32: Int64] = [:]
        let numbers = try await offsets.partitions()
        for number in numbers { positions[number] = try await offsets.committedOffset(of: number) }
        return try await partitions(numbers, at: positions, consumer, offsets)
    }

    private func partitions(
        _ stored: [LoadedPartitionStatus],
        of tracker: String
    ) async throws(TrackerError) -> [LoaderStatus.Partition] {
        let consumer = try consumer(forTracker: tracker)
        defer { consumer.close() }
        let offsets = try consumer.makeOffsetRequests()
        let cluster = try await offsets.clusterID()
        let own = stored.filter { $0.partition.cluster == cluster && $0.partition.topic == configuration.topic }
        let byNumber = Dictionary(own.map { ($0.partition.number, $0) }) { first, _ in first }
        let numbers = Set(try await offsets.partitions()).union(byNumber.keys).sorted()
        let positions = byNumber.mapValues(\.claim.position.nextOffset)
        var reports = try await partitions(numbers, at: positions, consumer, offsets)
        for index in reports.indices {
            guard let status = byNumber[reports[index].partition] else { continue }
            reports[index].owner = status.owner
            reports[index].epoch = status.claim.epoch
            reports[index].refused = status.refused
        }
        return reports
    }

    private func partitions(
        _ numbers: [Int32],
        at positions: [Int32: Int64],
        _ consumer: KafkaConsumer,
        _ offsets: OffsetRequests
    ) async throws(TrackerError) -> [LoaderStatus.Partition] {
        var watermarks: [Int32: KafkaConsumer.Watermarks] = [:]
        for number in numbers { watermarks[number] = try await offsets.watermarks(of: number) }
        var wanted: [Int32: Int64] = [:]
        for (number, next) in positions {
            guard let marks = watermarks[number], marks.lag(behind: next) > 0 else { continue }
            wanted[number] = max(next, marks.low)
        }
        let times = try timestamps(at: wanted, consumer)
        let now = Timestamp.now().microseconds / 1000
        return numbers.map { number in
            var report = LoaderStatus.Partition(
                partition: number,
                next: positions[number],
                lag: positions[number].flatMap { next in watermarks[number]?.lag(behind: next) },
                lagSeconds: times[number].map { Double(max(0, now - $0)) / 1000 }
            )
            if let next = positions[number], let marks = watermarks[number] {
                report.problem = Halt(at: next, watermarks: marks)?.description
            }
            return report
        }
    }

    /// When the records at these offsets, or the next ones, were written.
    private func timestamps(
        at offsets: [Int32: Int64],
        _ consumer: KafkaConsumer
    ) throws(TrackerError) -> [Int32: Int64] {
        guard !offsets.isEmpty else { return [:] }
        try consumer.assign(offsets.keys.sorted())
        defer { consumer.unassign() }
        var (wanted, unsought) = (offsets, offsets)
        var times: [Int32: Int64] = [:]
        let clock = ContinuousClock()
        let deadline = clock.now + Self.readingTime
        while !wanted.isEmpty, clock.now < deadline {
            wakeup.wait(milliseconds: 50)
            while consumer.poll() != nil {}
            for (number, offset) in unsought where consumer.seek(number, to: offset) == .done { unsought[number] = nil }
            for (number, offset) in wanted where unsought[number] == nil {
                guard let found = firstRecord(of: number, from: offset, consumer) else { continue }
                times[number] = found.timestamp
                wanted[number] = nil
            }
        }
        return times
    }

    /// The first record in a partition's queue that is not before an offset, or the end of the partition, without a timestamp; `nil`
    /// if neither has arrived.
    private func firstRecord(
        of number: Int32,
        from offset: Int64,
        _ consumer: KafkaConsumer
    ) -> (offset: Int64, timestamp: Int64?)? {
        while let reading = consumer.read(number) {
            switch reading {
            case .record(let record) where record.offset >= offset: return (record.offset, record.timestamp)
            case .end(let end): return (end, nil)
            case .record, .outOfRange, .failed: continue
            }
        }
        return nil
    }

    private func consumer(forTracker tracker: String) throws(TrackerError) -> KafkaConsumer {
        var consumer = configuration.consumer(forTracker: tracker)
        // Another name of max.partition.fetch.bytes.
        consumer.properties["fetch.message.max.bytes"] = nil
        consumer.properties.merge(Self.readingLimits) { $1 }
        return try KafkaConsumer(consumer, wakeup: wakeup, logger: logger)
    }
}
