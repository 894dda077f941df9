/// The position of a tracker among those of its pipeline: it names the tracker, its queue and its worker.
package struct TrackerIndex: Sendable, Hashable {
    package let position: Int

    @inline(__always)
    package init(_ position: Int) {
        self.position = position
    }
}

extension TrackerIndex: Comparable {
    @inline(__always)
    package static func < (first: TrackerIndex, second: TrackerIndex) -> Bool { first.position < second.position }
}

/// Arrays with an element for each tracker.
extension Array {
    @inline(__always)
    package subscript(tracker: TrackerIndex) -> Element {
        get { self[tracker.position] }
        _modify { yield &self[tracker.position] }
    }

    /// The indices of the trackers.
    package var trackerIndices: some Sequence<TrackerIndex> { indices.lazy.map { TrackerIndex($0) } }
}
