import EventQuarantine
import TrackerKit

/// Reads the refused records that a filter selects, page by page.
struct RefusedScan {
    /// A record, and what identifies it in the destination.
    struct Entry {
        let key: RefusedRecordKey
        /// The value as it was in Kafka; `nil` for a tombstone.
        let value: [UInt8]?
        let record: QuarantineRecord
    }

    /// The maximum number of records in memory.
    private static let pageSize = 500

    private let tracker: any PartitionTracker
    private let loader: String?
    private let filter: QuarantineFilter
    private var names: RefusedRecordNames?
    private var page: ArraySlice<StoredRefusal> = []
    private var last: RefusedRecordKey?
    /// The number of bytes of the values read so far.
    private(set) var bytesRead = 0
    /// A sentence for each record so far that is not readable.
    private(set) var findings: [String] = []

    init(_ tracker: any PartitionTracker, loader: String?, _ filter: QuarantineFilter) {
        self.tracker = tracker
        self.loader = loader
        self.filter = filter
    }

    /// The next record; `nil` after the last.
    mutating func next() async throws(TrackerError) -> Entry? {
        let names = try await names()
        while let refusal = try await nextRefusal() {
            let id = names.id(of: refusal.key)
            let value = refusal.refused.record.value
            bytesRead += value?.count ?? 0
            guard let record = QuarantineRecord(refusal, id: id) else {
                findings.append("The verdict of the refused record \(id) cannot be read.")
                continue
            }
            if filter.matches(record) { return Entry(key: refusal.key, value: value, record: record) }
        }
        return nil
    }

    private mutating func nextRefusal() async throws(TrackerError) -> StoredRefusal? {
        if page.isEmpty {
            page = try await tracker.refusedRecords(ofLoader: loader, after: last, limit: Self.pageSize)[...]
            last = page.last?.key
        }
        return page.popFirst()
    }

    private mutating func names() async throws(TrackerError) -> RefusedRecordNames {
        if let names { return names }
        let names = RefusedRecordNames(of: try await tracker.refusedRecordOrigins(ofLoader: loader))
        self.names = names
        return names
    }
}

/// Makes ids of refused records, such as `events/3-17` for the offset 17 of the topic's partition 3.
///
/// The loader, and the cluster, are part of the ids if there are several: `warehouse/events/3-17`.
struct RefusedRecordNames {
    private let hasLoader: Bool
    private let hasCluster: Bool

    init(of origins: [RefusedRecordOrigin]) {
        let loaders = Set(origins.map(\.loader))
        hasLoader = loaders.count > 1
        hasCluster = Set(origins).count > loaders.count
    }

    func id(of key: RefusedRecordKey) -> String {
        let partition = key.partition
        let names = (hasLoader ? [partition.loader] : []) + (hasCluster ? [partition.cluster] : [])
        return (names + ["\(partition)-\(key.offset)"]).joined(separator: "/")
    }
}

extension QuarantineRecord {
    /// Creates it from a record of the destination; `nil` if the verdict is not one.
    init?(_ refusal: StoredRefusal, id: String) {
        var line: [UInt8] = []
        let original = refusal.refused.record.value ?? []
        guard QuarantineLine.append(storedVerdict: refusal.refused.verdict, original, to: &line) else { return nil }
        let partition = refusal.key.partition
        self.init(
            id: id,
            partID: "\(partition.loader)/\(partition.cluster)/\(partition)",
            sequence: UInt64(max(0, refusal.key.offset)),
            line: line.dropLast()
        )
    }
}
