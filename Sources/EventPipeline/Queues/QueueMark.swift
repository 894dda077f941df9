/// A point in the stream of one tracker's events, in the two ways in which they are counted.
///
/// Events in memory are counted by position: the first event ever queued has position 0. Events that a tracker reads from the
/// journal have the numbers that the journal gave them (sequences). A position says nothing about events that were in the
/// journal before the pipeline was made, and a sequence says nothing about a pipeline without a journal, so a point needs both.
struct QueueMark: Sendable, Hashable {
    /// The position of the first event behind the point.
    let position: Int
    /// The number of the first event behind the point; 0 if it makes no difference.
    let sequence: UInt64

    /// Whether this point is not before `other`.
    func reaches(_ other: QueueMark) -> Bool { position >= other.position && sequence >= other.sequence }
}

extension TrackerState {
    /// The end of what the tracker has been given; `published` is the end of the journal.
    func end(published: UInt64?) -> QueueMark {
        QueueMark(position: queue.tail, sequence: queue.spilledFrom == nil ? 0 : published ?? 0)
    }

    /// The point before which the tracker has settled everything: the end of the journal if it has nothing to do.
    func settled(published: UInt64?) -> QueueMark {
        let position = settledPosition
        let isIdle = position == queue.tail && queue.spilledFrom == nil
        return QueueMark(position: position, sequence: isIdle ? published ?? settledSequence : settledSequence)
    }
}
