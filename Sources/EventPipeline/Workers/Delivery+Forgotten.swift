import EventValidation
import TrackerKit

extension Delivery {
    /// The same events without those that a tombstone covers; this delivery if it covers none.
    func removingForgotten(_ tombstones: Tombstones) -> Delivery {
        guard !tombstones.isEmpty else { return self }
        var kept: [Int] = []
        var position = 0
        for event in self {
            if !tombstones.covers(event.batch.line(at: event.index)) { kept.append(position) }
            position += 1
        }
        guard kept.count < count else { return self }
        return Delivery(selecting(kept).slices, checkpoint: checkpoint)
    }
}
