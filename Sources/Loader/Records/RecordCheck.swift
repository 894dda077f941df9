import EventModel
import EventQuarantine
import EventValidation
import SluiceKafka
import TrackerKit

extension ConsumedRecord: LoadableRecord {
    /// A time at which the event of a record that another program has written existed already, which is the record's.
    ///
    /// Such a record need not state when it was received, and would count as received when it is loaded, so that a tombstone would
    /// never cover it. `nil` for a record that Sluice has written, which states it, and without a time.
    fileprivate var existingTime: Timestamp? {
        guard timestamp >= 0, value.flatMap({ CanonicalLine($0) }) == nil else { return nil }
        return Timestamp(microseconds: timestamp * 1_000)
    }
}

/// Checks records against the plan.
struct RecordCheck: Sendable {
    /// How long it waits at least for a loader with another plan, so that each try can find several records whose time is over.
    private static let shortestWait = Duration.seconds(1)

    /// The plan, without what is hidden from the tracker.
    private let catalog: EventCatalog
    private let mask: UInt64
    private let planDigest: String
    /// How old a record of another plan may be that waits.
    private let patience: Duration
    private let tombstones: TombstoneRegister

    init(catalog: EventCatalog, tracker: String, patience: Duration, tombstones: TombstoneRegister) {
        self.patience = patience
        self.tombstones = tombstones
        planDigest = catalog.planDigest.description
        self.catalog = catalog.visible(to: tracker)
        mask = self.catalog.mask(ofTracker: tracker)
    }

    /// Checks the records of a batch; `now` is in milliseconds since 1970, as are the times of records.
    ///
    /// - Throws: `UncheckedBody` if there is not enough memory.
    func check(
        _ batch: PartitionLoad<ConsumedRecord>.Batch,
        of partition: LoadedPartition,
        now: Int64
    ) throws -> CheckedRecords {
        try check(batch.records[...], of: partition, now: now)
    }

    private func check(
        _ records: ArraySlice<ConsumedRecord>,
        of partition: LoadedPartition,
        now: Int64
    ) throws -> CheckedRecords {
        let tombstones = tombstones.current
        // Before the check, so that a record that does not follow the plan is not kept as refused.
        let lines = RecordLines(records) { tombstones.covers($0) }
        var forgotten = lines.forgotten
        let validator = EventValidator(rereading: catalog, identity: .derived(source: partition.idSource))
        var rejections = lines.others.map { (place: $0, rejection: Self.rejection(of: records[$0])) }
        var slices: [EventSlice] = []
        var sources: [ConsumedRecord] = []
        for run in lines.runs {
            // Only to derive ids from it.
            validator.setNextLine(Int(clamping: run.offset))
            let body = try validator.check(lines: lines.bytes(of: run))
            let places = lines.places[run.lines]
            rejections += body.rejections.map { (place: places[run.lines.lowerBound + $0.index], rejection: $0) }
            guard let accepted = body.batch, let slice = EventSlice(accepted, for: mask) else { continue }
            let rejected = Set(body.rejections.map { run.lines.lowerBound + $0.index })
            let acceptedPlaces =
                rejected.isEmpty ? Array(places) : places.indices.filter { !rejected.contains($0) }.map { places[$0] }
            // Only a record that another program has written has a line that differs from its value.
            let kept = (0..<slice.count).filter { place in
                let index = slice.batchIndex(at: place)
                let existing = tombstones.isEmpty ? nil : records[acceptedPlaces[index]].existingTime
                return !tombstones.covers(accepted.line(at: index), existing: existing)
            }
            forgotten += slice.count - kept.count
            slices += kept.count == slice.count ? [slice] : Delivery([slice]).selecting(kept).slices
            sources += kept.map { records[acceptedPlaces[slice.batchIndex(at: $0)]] }
        }
        rejections.sort { $0.place < $1.place }
        for place in rejections.map(\.place) {
            guard let time = waitingTime(of: records[place], now: now) else { continue }
            var result = try check(records[..<place], of: partition, now: now)
            result.waiting = CheckedRecords.Waiting(offset: records[place].offset, time: time)
            return result
        }
        return CheckedRecords(
            events: Delivery(slices),
            sources: sources,
            rejections: rejections.map { (records[$0.place], $0.rejection) },
            forgotten: forgotten,
            last: records.last
        )
    }

    /// How long a rejected record waits for a loader with its plan; `nil` if it follows this plan, or is too old.
    ///
    /// By the record's age, so that records of earlier plans do not hold up the loading of a topic's history. A time that is far in
    /// the future says nothing about the age.
    private func waitingTime(of record: ConsumedRecord, now: Int64) -> Duration? {
        guard let digest = record.planDigest, digest != planDigest else { return nil }
        let age = Duration.milliseconds(now - record.timestamp)
        guard (.zero - patience..<patience).contains(age) else { return nil }
        return max(Self.shortestWait, patience - age)
    }

    private static func rejection(of record: ConsumedRecord) -> Rejection {
        let violation = Violation(
            code: .malformedJSON,
            path: "$",
            expected: "one event without line breaks and byte order mark",
            found: record.value == nil ? "a tombstone" : "something else"
        )
        return Rejection(
            index: 0,
            id: nil,
            name: nil,
            violations: [violation],
            original: record.value.map { [UInt8]($0) } ?? []
        )
    }
}

/// The values of records as lines.
private final class RecordLines {
    /// Lines of records with consecutive offsets, so that the number of each line follows from that of the first.
    struct Run {
        /// The offset of the first record.
        let offset: Int64
        var lines: Range<Int>
        var bytes: Range<Int>
    }

    private(set) var runs: [Run] = []
    /// The places of the records that have a line, in the order of the lines.
    private(set) var places: [Int] = []
    /// The places of the other records.
    private(set) var others: [Int] = []
    /// The number of records that were left out.
    private(set) var forgotten = 0
    private let memory: UnsafeMutableRawBufferPointer
    private var end = 0

    /// Copies the values, except those for which `isForgotten` returns true.
    init(_ records: ArraySlice<ConsumedRecord>, isForgotten: (UnsafeRawBufferPointer) -> Bool) {
        memory = .allocate(byteCount: records.reduce(0) { $0 + ($1.value?.count ?? 0) + 1 }, alignment: 1)
        places.reserveCapacity(records.count)
        for place in records.indices {
            if let value = records[place].value, isForgotten(value) {
                forgotten += 1
                continue
            }
            guard let value = records[place].value, Self.isLine(value) else {
                others.append(place)
                continue
            }
            let start = end
            append(value)
            places.append(place)
            if let run = runs.last, records[place].offset == run.offset + Int64(run.lines.count) {
                runs[runs.count - 1].lines = run.lines.lowerBound..<places.count
                runs[runs.count - 1].bytes = run.bytes.lowerBound..<end
            } else {
                runs.append(
                    Run(offset: records[place].offset, lines: places.count - 1..<places.count, bytes: start..<end)
                )
            }
        }
    }

    deinit {
        memory.deallocate()
    }

    /// The lines of a run, each with a newline; valid as long as this object.
    func bytes(of run: Run) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[run.bytes]) }

    private func append(_ value: UnsafeRawBufferPointer) {
        UnsafeMutableRawBufferPointer(rebasing: memory[end...]).copyMemory(from: value)
        end += value.count
        memory[end] = UInt8(ascii: "\n")
        end += 1
    }

    /// Whether the check would find exactly one event in the value, because it ignores empty lines, and a byte order mark at the
    /// beginning.
    private static func isLine(_ value: UnsafeRawBufferPointer) -> Bool {
        !value.starts(with: [0xEF, 0xBB, 0xBF]) && value.firstIndex(ofByte: UInt8(ascii: "\n")) == nil
            && value.contains { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") && $0 != UInt8(ascii: "\r") }
    }
}
