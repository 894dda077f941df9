/// The batches that are on their way to the journal: admitted, and neither committed nor turned down.
///
/// They are in memory and in no queue, so they have a limit of their own for senders that do not wait.
struct AdmittedBatches: Sendable {
    /// How many were ever admitted.
    private(set) var begun: UInt64 = 0
    /// How many of those are not on their way any more.
    private(set) var ended: UInt64 = 0
    private var events = 0
    private var bytes = 0

    var isEmpty: Bool { begun == ended }

    /// Whether a batch may come besides, by the limits of a queue; one that is larger than they are comes alone.
    func hasRoom(for batch: RoutedBatch, limits: Pipeline.Queue) -> Bool {
        isEmpty
            || events + batch.count <= limits.capacityInEvents
                && bytes + batch.batch.byteCount <= limits.capacityInBytes
    }

    mutating func begin(_ batch: RoutedBatch) {
        begun += 1
        events += batch.count
        bytes += batch.batch.byteCount
    }

    mutating func end(_ batch: RoutedBatch) {
        ended += 1
        events -= batch.count
        bytes -= batch.batch.byteCount
    }
}
