/// How far a loader is, as JSON.
package struct LoaderStatus: Codable, Sendable {
    package struct Partition: Codable, Sendable {
        package let partition: Int32
        /// The process that has claimed it; `nil` if nobody has, or if the tracker does not say.
        package var owner: String?
        /// `nil` before the claim, and if the tracker stores no positions.
        package var epoch: Int64?
        /// The offset of the first record that is not loaded; `nil` before the first claim.
        package let next: Int64?
        /// How many records are not loaded; `nil` if the brokers have not said yet.
        package let lag: Int64?
        /// How long ago the oldest of them was written; `nil` if there is none, or if it has not been read.
        package let lagSeconds: Double?
        /// How many refused records the tracker keeps; `nil` if it keeps none itself.
        package var refused: Int?
        /// Why it is not loaded until somebody decides.
        package var problem: String?

        package init(partition: Int32, next: Int64?, lag: Int64?, lagSeconds: Double?) {
            self.partition = partition
            self.next = next
            self.lag = lag
            self.lagSeconds = lagSeconds
        }
    }

    package struct Tracker: Codable, Sendable {
        package let tracker: String
        package let partitions: [Partition]
        /// Why nothing is known about its partitions, or why this process has none.
        package var problem: String?

        package init(tracker: String, partitions: [Partition], problem: String? = nil) {
            self.tracker = tracker
            self.partitions = partitions
            self.problem = problem
        }
    }

    package let loader: String
    package let topic: String
    package let trackers: [Tracker]

    /// The problems of trackers and of partitions, each with the name of its tracker.
    package var problems: [String] {
        trackers.flatMap { tracker in
            let own = tracker.problem.map { ["\(tracker.tracker): \($0)"] } ?? []
            return own
                + tracker.partitions.compactMap { partition in
                    partition.problem.map { "\(tracker.tracker), partition \(partition.partition): \($0)" }
                }
        }
    }

    package init(loader: String, topic: String, trackers: [Tracker]) {
        self.loader = loader
        self.topic = topic
        self.trackers = trackers
    }
}

extension Loader {
    /// How far this process is with the partitions that it has; `now` is in milliseconds since 1970.
    package func status(now: Int64) -> LoaderStatus {
        let trackers = members.map { member in
            let partitions = member.status.partitions.sorted { $0.key < $1.key }.map { number, partition in
                var status = LoaderStatus.Partition(
                    partition: number,
                    next: partition.next,
                    lag: partition.lag,
                    lagSeconds: partition.ageInSeconds(now: now)
                )
                status.epoch = partition.epoch
                status.problem = partition.halt?.description
                return status
            }
            return LoaderStatus.Tracker(
                tracker: member.status.tracker,
                partitions: partitions,
                problem: member.status.problem
            )
        }
        return LoaderStatus(loader: configuration.name, topic: configuration.topic, trackers: trackers)
    }
}
