/// A set of the pipeline's queues, each named by its position among the trackers: at most 64 of them.
package struct QueueSet: Sendable, Hashable, ExpressibleByArrayLiteral {
    package private(set) var bits: UInt64

    @inline(__always)
    package init(bits: UInt64) {
        self.bits = bits
    }

    /// The set of these queues.
    package init(arrayLiteral queues: TrackerIndex...) {
        bits = queues.reduce(0) { $0 | QueueSet.bit($1) }
    }

    /// The first `count` queues.
    package init(first count: Int) {
        bits = count >= 64 ? .max : QueueSet.bit(TrackerIndex(count)) - 1
    }

    @inline(__always)
    private static func bit(_ queue: TrackerIndex) -> UInt64 { 1 << UInt64(truncatingIfNeeded: queue.position) }

    package var isEmpty: Bool { bits == 0 }

    @inline(__always)
    package func contains(_ queue: TrackerIndex) -> Bool { bits & QueueSet.bit(queue) != 0 }

    @inline(__always)
    package mutating func insert(_ queue: TrackerIndex) { bits |= QueueSet.bit(queue) }

    package mutating func remove(_ queue: TrackerIndex) { bits &= ~QueueSet.bit(queue) }

    @inline(__always)
    package mutating func formUnion(_ other: QueueSet) { bits |= other.bits }

    @inline(__always)
    package func intersection(_ other: QueueSet) -> QueueSet { QueueSet(bits: bits & other.bits) }

    package func subtracting(_ other: QueueSet) -> QueueSet { QueueSet(bits: bits & ~other.bits) }

    @inline(__always)
    package func isDisjoint(with other: QueueSet) -> Bool { bits & other.bits == 0 }

    package func isSuperset(of other: QueueSet) -> Bool { bits & other.bits == other.bits }

    /// How many of its queues come before this one.
    package func rank(of queue: TrackerIndex) -> Int { (bits & (QueueSet.bit(queue) - 1)).nonzeroBitCount }
}

extension QueueSet: Sequence {
    /// Walks the queues, ascending.
    package struct Iterator: IteratorProtocol {
        var rest: UInt64

        @inline(__always)
        package mutating func next() -> TrackerIndex? {
            guard rest != 0 else { return nil }
            defer { rest &= rest - 1 }
            return TrackerIndex(rest.trailingZeroBitCount)
        }
    }

    @inline(__always)
    package func makeIterator() -> Iterator { Iterator(rest: bits) }
}
