import EventModel
import EventValidation
import TrackerKit

/// The positions of a delivery's events, distributed over requests that are in progress at the same time: those of one user in one.
enum Lanes {
    /// Distributes the positions; each lane is ascending, and none is empty.
    static func positions(of delivery: Delivery, over count: Int) -> [[Int]] {
        let count = min(count, delivery.count)
        guard count > 1 else { return delivery.count == 0 ? [] : [Array(0..<delivery.count)] }
        var lanes = [[Int]](repeating: [], count: count)
        for (position, event) in delivery.enumerated() {
            lanes[Int(hash(event.batch.line(at: event.index)) % UInt64(count))].append(position)
        }
        return lanes.filter { !$0.isEmpty }
    }

    /// A hash of the user, or else of the anonymous user, or else of the event.
    private static func hash(_ line: UnsafeRawBufferPointer) -> UInt64 {
        guard let parts = CanonicalLine(line) else { return 0 }
        // FNV-1a; what senders choose can only make fewer requests parallel.
        return parts.withText(of: parts.userID ?? parts.anonymousID ?? parts.id) { text in
            text.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        }
    }
}
