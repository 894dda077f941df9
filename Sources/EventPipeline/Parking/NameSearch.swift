import EventSchema
import EventValidation
import TrackerKit

/// Searches consecutive slices for events of two names that a tracker may be able to deliver.
struct NameSearch {
    private let broken: BrokenEvents
    private var first: String?
    /// Whether there are events of two names.
    private(set) var hasFoundSeveral = false

    /// Skips events that are known to be undeliverable.
    init(except broken: BrokenEvents) {
        self.broken = broken
    }

    /// Searches further slices until there are two names.
    mutating func look(through slices: [EventSlice]) {
        for slice in slices {
            guard !hasFoundSeveral else { return }
            look(through: slice)
        }
    }

    private mutating func look(through slice: EventSlice) {
        // Most events are like the one before.
        var last: UInt32?
        for position in 0..<slice.count {
            let index = slice.batch.entries[slice.batchIndex(at: position)].definitionIndex
            guard index != last else { continue }
            last = index
            let name = slice.batch.catalog.definitions[Int(index)].name
            guard name != first, !broken.contains(name) else { continue }
            guard first == nil else {
                hasFoundSeveral = true
                return
            }
            first = name
        }
    }
}
