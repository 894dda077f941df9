import Loader
import TestCases
import Testing
import TrackerKit

/// Several loaders, a group that assigns partitions to them, a log and a destination, driven by a seed.
///
/// Loaders freeze and continue later with an outdated state; answers come late or not at all; the destination is restored from a
/// backup. The destination has no primary key, which would hide duplicates.
struct LoaderSimulation {
    struct Record: LoadableRecord, Hashable {
        let offset: Int64
        let isPoison: Bool
        var byteCount: Int { 10 }
        var detached: Self { self }
        var note: RecordNote { RecordNote(offset: offset, id: "\(offset)", timestamp: offset) }
    }

    typealias Load = PartitionLoad<Record>

    /// What the destination has of one partition.
    struct Stored: Hashable {
        var next: Int64?
        var epoch: Int64 = 0
        var last: RecordNote?
        var rows: [Int64] = []
        var refused: [Int64] = []

        mutating func load(_ batch: Load.Batch) -> LoadOutcome {
            for record in batch.records {
                if record.isPoison { refused.append(record.offset) } else { rows.append(record.offset) }
            }
            next = batch.end
            last = batch.records.last?.note ?? last
            return .committed(end: batch.end)
        }
    }

    /// The answer to an operation, on its way to the loader.
    enum Answer {
        case located(Int64?)
        case claimed(Load.ClaimOutcome)
        case compared(Load.Comparison)
        case loaded(LoadOutcome)
    }

    enum Event {
        /// The destination or Kafka carries out an operation.
        case effect(loader: Int, assignment: Int, partition: Int, Load.Operation)
        case answer(loader: Int, assignment: Int, partition: Int, Answer)
    }

    struct Loader {
        var loads: [Int: Load] = [:]
        /// How often each partition was assigned, so that answers for an earlier assignment are dropped.
        var assignments: [Int: Int] = [:]
        var frozenUntil: Duration = .zero
        /// Where the consumer reads each partition.
        var fetch: [Int: Int64] = [:]
        /// The partitions that were sought and have not been read since.
        var sought: Set<Int> = []
        /// The messages of the group that a frozen loader has not seen.
        var inbox: [Message] = []
    }

    enum Message {
        case assign(Int)
        case revoke(Int)
        case lose(Int)
    }

    static let partitions = 4
    static let records = 60
    var random: SeededGenerator
    var now: Duration = .zero
    var log: [[Record]]
    /// The offset after the last record of each partition.
    var ends: [Int64]
    var stored: [Stored]
    var backup: [Stored]
    var loaders: [Loader]
    /// Who the group thinks has each partition; `nil` while it moves.
    var owners: [Int?]
    /// When a move that waits for the old owner ends.
    var moves: [Int: (to: Int, at: Duration)] = [:]
    var events: [(at: Duration, number: Int, Event)] = []
    var number = 0
    var restores = 0
    let limits: LoadLimits

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var limits = LoadLimits()
        limits.batchRecords = 7
        limits.bufferedRecords = 12
        limits.heldUpBytes = 30
        limits.stuckAfter = .seconds(20)
        self.limits = limits
        log = []
        ends = []
        for _ in 0..<Self.partitions {
            var offset = Int64.random(in: 0..<5, using: &random)
            var records: [Record] = []
            for _ in 0..<Self.records {
                if Int.random(in: 0..<8, using: &random) == 0 { offset += Int64.random(in: 1..<4, using: &random) }
                records.append(Record(offset: offset, isPoison: Int.random(in: 0..<15, using: &random) == 0))
                offset += 1
            }
            log.append(records)
            ends.append(offset + Int64.random(in: 0..<2, using: &random))
        }
        stored = Array(repeating: Stored(), count: Self.partitions)
        backup = stored
        loaders = Array(repeating: Loader(), count: Int.random(in: 1...4, using: &random))
        owners = Array(repeating: nil, count: Self.partitions)
        self.random = random
        for partition in 0..<Self.partitions {
            assign(partition, to: self.random.next(upperBound: UInt64(loaders.count)))
        }
    }

    private mutating func assign(_ partition: Int, to loader: UInt64) {
        owners[partition] = Int(loader)
        loaders[Int(loader)].inbox.append(.assign(partition))
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private mutating func delay(_ longest: Int) -> Duration {
        .milliseconds(Int.random(in: 1...longest, using: &random))
    }

    private mutating func schedule(_ event: Event, after delay: Duration) {
        number += 1
        events.append((now + delay, number, event))
    }

    /// Runs until everything is loaded; no faults are injected after a while.
    mutating func run() {
        for step in 0..<40_000 {
            let isCalm = step > 3_000
            now += .milliseconds(50)
            if !isCalm { injectFaults() }
            processEvents()
            for loader in loaders.indices where loaders[loader].frozenUntil <= now { work(loader, isCalm: isCalm) }
            finishMoves(isCalm: isCalm)
            if isCalm, isComplete { return }
        }
        Issue.record("the partitions are not loaded: \(stored.map(\.next)) of \(ends)")
    }

    var isComplete: Bool { zip(stored, ends).allSatisfy { $0.next == $1 } }

    private mutating func injectFaults() {
        if chance(2) {
            let loader = Int.random(in: loaders.indices, using: &random)
            loaders[loader].frozenUntil = now + delay(15_000)
        }
        if chance(3) {
            let partition = Int.random(in: 0..<Self.partitions, using: &random)
            move(partition)
        }
        if chance(1) { backup = stored }
        if chance(1), restores < 3, Int.random(in: 0..<5, using: &random) == 0 {
            // The rows and the offsets come back together.
            stored = backup
            restores += 1
        }
    }

    /// The group takes a partition from its owner; it waits for the owner's consent, but not indefinitely.
    private mutating func move(_ partition: Int) {
        guard let owner = owners[partition], moves[partition] == nil else { return }
        loaders[owner].inbox.append(.revoke(partition))
        moves[partition] = (Int.random(in: loaders.indices, using: &random), now + .seconds(6))
    }

    private mutating func finishMoves(isCalm: Bool) {
        for (partition, move) in moves {
            guard let owner = owners[partition] else { continue }
            let hasConsent = loaders[owner].frozenUntil <= now && hasEnded(partition, by: owner) != false
            guard hasConsent || now >= move.at else { continue }
            if !hasConsent { loaders[owner].inbox.append(.lose(partition)) }
            moves[partition] = nil
            assign(partition, to: UInt64(move.to))
        }
        // A loader that has given a partition up leaves the group, which assigns the partition again.
        for partition in 0..<Self.partitions where moves[partition] == nil {
            guard let owner = owners[partition], loaders[owner].frozenUntil <= now, loaders[owner].inbox.isEmpty,
                hasEnded(partition, by: owner) == true
            else { continue }
            assign(partition, to: UInt64(Int.random(in: loaders.indices, using: &random)))
        }
    }

    /// Whether a loader has given a partition up and no operation is under way; `nil` if it never had it.
    private func hasEnded(_ partition: Int, by loader: Int) -> Bool? {
        guard let load = loaders[loader].loads[partition] else { return nil }
        let assignment = loaders[loader].assignments[partition]
        let isBusy = events.contains { _, _, event in
            switch event {
            case .effect(let owner, let number, let place, _), .answer(let owner, let number, let place, _):
                owner == loader && number == assignment && place == partition
            }
        }
        return load.isGivenUp && !isBusy
    }

    private static func partition(_ number: Int) -> LoadedPartition {
        LoadedPartition(loader: "l", cluster: "c", topic: "t", number: Int32(number))
    }

    // MARK: A loader

    private mutating func work(_ loader: Int, isCalm: Bool) {
        let messages = loaders[loader].inbox
        loaders[loader].inbox = []
        for message in messages {
            switch message {
            case .assign(let partition):
                loaders[loader].loads[partition] = Load(Self.partition(partition), limits: limits)
                loaders[loader].assignments[partition, default: 0] += 1
            case .revoke(let partition): loaders[loader].loads[partition]?.revoke(deadline: now + .seconds(3))
            case .lose(let partition): loaders[loader].loads[partition]?.giveUp()
            }
        }
        for partition in loaders[loader].loads.keys.sorted() { work(loader, partition) }
    }

    private mutating func work(_ loader: Int, _ partition: Int) {
        guard var load = loaders[loader].loads[partition] else { return }
        _ = load.giveUpIfOverdue(now: now)
        if load.isStuck(now: now) { load.giveUp() }
        fetch(loader, partition, &load)
        if let operation = load.nextOperation(now: now) {
            let assignment = loaders[loader].assignments[partition] ?? 0
            schedule(
                .effect(loader: loader, assignment: assignment, partition: partition, operation),
                after: delay(300)
            )
        }
        loaders[loader].loads[partition] = load
    }

    private mutating func fetch(_ loader: Int, _ partition: Int, _ load: inout Load) {
        guard load.wantsRecords else { return }
        if chance(1) { return load.offsetIsGone() }
        var position = loaders[loader].fetch[partition] ?? load.committedOffset ?? 0
        // Kafka's client may lose its place, but not just after it was told where to continue.
        if chance(3), !loaders[loader].sought.contains(partition) {
            position += Int64.random(in: -3..<4, using: &random)
        }
        for _ in 0..<5 {
            guard let record = log[partition].first(where: { $0.offset >= position }) else {
                if case .seek(let offset) = load.reachedEnd(at: ends[partition]) {
                    position = offset
                    loaders[loader].sought.insert(partition)
                }
                break
            }
            position = record.offset + 1
            if case .seek(let offset) = load.receive(record) {
                position = offset
                loaders[loader].sought.insert(partition)
                break
            }
            loaders[loader].sought.remove(partition)
        }
        loaders[loader].fetch[partition] = position
    }

    // MARK: The destination and the answers

    private mutating func processEvents() {
        let due = events.filter { $0.at <= now }.sorted { ($0.at, $0.number) < ($1.at, $1.number) }
        events.removeAll { $0.at <= now }
        for (_, _, event) in due {
            switch event {
            case .effect(let loader, let assignment, let partition, let operation):
                carryOut(operation, of: partition, loader, assignment)
            case .answer(let loader, let assignment, let partition, let answer):
                guard loaders[loader].frozenUntil <= now else {
                    schedule(event, after: .milliseconds(50))
                    continue
                }
                guard loaders[loader].assignments[partition] == assignment else { continue }
                take(answer, of: partition, loader)
            }
        }
    }

    private mutating func take(_ answer: Answer, of partition: Int, _ loader: Int) {
        switch answer {
        case .located(let start): loaders[loader].loads[partition]?.located(start, now: now)
        case .claimed(let outcome): loaders[loader].loads[partition]?.claimed(outcome, now: now)
        case .compared(let comparison):
            loaders[loader].loads[partition]?.compared(comparison, now: now)
            if case .matches = comparison {
                loaders[loader].fetch[partition] = nil
                loaders[loader].sought.insert(partition)
            }
        case .loaded(let outcome):
            loaders[loader].loads[partition]?.loaded(outcome, now: now)
            if let offset = loaders[loader].loads[partition]?.takeSeek() {
                loaders[loader].fetch[partition] = offset
                loaders[loader].sought.insert(partition)
            }
        }
    }

    private mutating func carryOut(_ operation: Load.Operation, of partition: Int, _ loader: Int, _ assignment: Int) {
        // The connection fails before or after the effect.
        let failsBefore = chance(4), failsAfter = chance(4)
        var answer: Answer
        switch operation {
        case .locate: answer = .located(failsBefore ? nil : log[partition][0].offset)
        case .claim(let start):
            answer = .claimed(.failed)
            if !failsBefore {
                stored[partition].epoch += 1
                if stored[partition].next == nil { stored[partition].next = start }
                if !failsAfter { answer = .claimed(granted(partition)) }
            }
        case .renew(let epoch):
            answer = .claimed(.failed)
            if !failsBefore, !failsAfter {
                answer = .claimed(stored[partition].epoch == epoch ? granted(partition) : .superseded)
            }
        case .compare(let position):
            answer = .compared(failsBefore ? .failed : comparison(position, partition))
        case .accept:
            preconditionFailure("no loss is accepted here")
        case .load(let batch):
            let failures: [LoadOutcome] = [
                .failed, .timedOut, .unknown, .tooLarge, .broken(["A"], acceptsOthers: true),
                .broken(["A", "B"], acceptsOthers: false), .refusedFull(limit: 1),
            ]
            answer = .loaded(
                failsBefore
                    ? failures[Int.random(in: failures.indices, using: &random)] : load(batch, into: partition)
            )
            if !failsBefore, failsAfter { answer = .loaded(.unknown) }
        }
        schedule(.answer(loader: loader, assignment: assignment, partition: partition, answer), after: delay(500))
    }

    private func granted(_ partition: Int) -> Load.ClaimOutcome {
        let position = StoredPosition(nextOffset: stored[partition].next ?? 0, lastRecord: stored[partition].last)
        return .granted(epoch: stored[partition].epoch, position)
    }

    private func comparison(_ position: StoredPosition, _ partition: Int) -> Load.Comparison {
        if position.nextOffset > ends[partition] {
            return .differs(.aboveHighWatermark(next: position.nextOffset, high: ends[partition]), restart: 0)
        }
        guard let last = position.lastRecord else { return .matches }
        let found = log[partition].first { $0.offset == last.offset }?.note
        return found == last ? .matches : .differs(.otherRecord(expected: last, found: found), restart: 0)
    }

    /// One transaction: rows, refused records and the compare-and-set.
    private mutating func load(_ batch: Load.Batch, into partition: Int) -> LoadOutcome {
        guard stored[partition].epoch == batch.epoch, stored[partition].next == batch.start else { return .superseded }
        return stored[partition].load(batch)
    }
}
