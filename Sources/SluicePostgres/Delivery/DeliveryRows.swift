import EventModel
import EventValidation
import TrackerKit

/// The events of a delivery, grouped by table.
struct DeliveryRows {
    /// The rows for one table.
    struct Group {
        let target: LoadTarget
        /// Whether the time of the events is not the sender's, so that another attempt to send one could have another time.
        let hasServerTimes: Bool
        /// Positions in the delivery, ascending.
        fileprivate(set) var positions: [Int]
    }

    /// The rows of one table for whose times it has no partition.
    struct WithoutPartition {
        let target: LoadTarget
        /// Positions in the delivery, ascending.
        let positions: [Int]
        /// The time of the earliest of these events.
        let earliest: Timestamp
    }

    /// The location of the event at each position.
    private struct Place {
        let slice: Int32
        let index: Int32
    }

    /// Ordered by the tables' names, so that concurrent loaders lock keys in the same order and cannot deadlock.
    private(set) var groups: [Group] = []
    /// The rows that are not loaded, because their tables have no partitions for them.
    private(set) var withoutPartition: [WithoutPartition] = []
    /// All targets of each catalog that the events were checked against.
    private(set) var catalogTargets: [[LoadTarget]] = []
    /// The checkpoint to store with the rows; `nil` for none.
    let checkpoint: Checkpoint?
    /// The approximate size of the rows.
    let byteCount: Int
    /// The journal that holds the events; `nil` without one.
    let journal: JournalID?
    private let slices: [EventSlice]
    private var places: [Place] = []

    init(_ delivery: Delivery, _ targets: inout LoadTargets) {
        slices = delivery.slices
        byteCount = delivery.byteCount
        checkpoint = delivery.checkpoint
        journal = delivery.journal
        places.reserveCapacity(delivery.count)
        var catalog: EventCatalog?
        var definitions: [LoadTarget] = []
        var groupOfKind: [Int] = []
        for (sliceIndex, slice) in delivery.slices.enumerated() {
            let batch = slice.batch
            if catalog !== batch.catalog {
                catalog = batch.catalog
                definitions = targets.targets(of: batch.catalog)
                catalogTargets.append(definitions)
                groupOfKind = Array(repeating: -1, count: 2 * definitions.count)
            }
            let entries = batch.entries
            for position in 0..<slice.count {
                let index = slice.batchIndex(at: position)
                let definition = Int(entries[index].definitionIndex)
                let hasServerTime = ServerTime.isMarked(batch.line(at: index))
                // Each table can have a group of each kind.
                let kind = 2 * definition + (hasServerTime ? 1 : 0)
                var group = groupOfKind[kind]
                if group < 0 {
                    group = groups.count
                    groupOfKind[kind] = group
                    groups.append(
                        Group(target: definitions[definition], hasServerTimes: hasServerTime, positions: [])
                    )
                }
                groups[group].positions.append(places.count)
                places.append(
                    Place(slice: Int32(truncatingIfNeeded: sliceIndex), index: Int32(truncatingIfNeeded: index))
                )
            }
        }
        groups.sort {
            ($0.target.table.name, $0.hasServerTimes ? 1 : 0) < ($1.target.table.name, $1.hasServerTimes ? 1 : 0)
        }
    }

    /// Whether a table has no partition for one of the rows.
    func lackPartitions(_ known: KnownTables) -> Bool {
        groups.contains { group in
            guard let coverage = coverage(of: group, known) else { return false }
            return !group.positions.allSatisfy { coverage.contains(time(at: $0)) }
        }
    }

    /// Removes the rows without a partition from the groups; returns whether there are any.
    ///
    /// Otherwise the server would reject all rows, and each of these would have to be found.
    mutating func removeWithoutPartition(_ known: KnownTables) -> Bool {
        let before = withoutPartition.count
        for index in groups.indices {
            guard let coverage = coverage(of: groups[index], known) else { continue }
            let left = groups[index].positions.filter { !coverage.contains(time(at: $0)) }
            guard let earliest = left.map(time).min(by: { $0.microseconds < $1.microseconds }) else { continue }
            withoutPartition.append(WithoutPartition(target: groups[index].target, positions: left, earliest: earliest))
            groups[index].positions = groups[index].positions.filter { coverage.contains(time(at: $0)) }
        }
        groups.removeAll(where: \.positions.isEmpty)
        return withoutPartition.count > before
    }

    private func coverage(of group: Group, _ known: KnownTables) -> PartitionCoverage? {
        known.coverage(of: group.target.table).flatMap { $0.column == "occurred_at" ? $0 : nil }
    }

    private func time(at position: Int) -> Timestamp {
        let (batch, index) = event(at: position)
        return batch.entries[index].time
    }

    /// Returns the batch that holds the event at a position, and the event's index in it.
    @inline(__always)
    func event(at position: Int) -> (batch: EventBatch, index: Int) {
        let place = places[position]
        return (slices[Int(place.slice)].batch, Int(place.index))
    }
}
