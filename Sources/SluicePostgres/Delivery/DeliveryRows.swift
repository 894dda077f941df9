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

    /// The location of the event at each position.
    private struct Place {
        let slice: Int32
        let index: Int32
    }

    /// Ordered by the tables' names, so that concurrent loaders lock keys in the same order and cannot deadlock.
    private(set) var groups: [Group] = []
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

    /// Returns the batch that holds the event at a position, and the event's index in it.
    @inline(__always)
    func event(at position: Int) -> (batch: EventBatch, index: Int) {
        let place = places[position]
        return (slices[Int(place.slice)].batch, Int(place.index))
    }
}
