import Loader
import TestCases
import TestPromises
import Testing
import TrackerKit

@Suite("Loading a partition")
struct PartitionLoadTests {
    private typealias Record = LoaderSimulation.Record
    private typealias Load = PartitionLoad<Record>

    @Test(
        "whatever freezes, moves, fails and is restored, valid records are loaded once and in order, and each invalid record is refused once",
        .promise("loader-crash"),
        arguments: SimulationSeeds.upTo(5_000)
    )
    func simulation(seed: UInt64) {
        var simulation = LoaderSimulation(seed: seed)
        simulation.run()
        for (log, stored) in zip(simulation.log, simulation.stored) {
            #expect(stored.rows == log.filter { !$0.isPoison }.map(\.offset))
            #expect(stored.refused == log.filter(\.isPoison).map(\.offset))
        }
    }

    @Test(
        "a gap is accepted only after the partition was sought to the expected offset, and is counted",
        .promise("missing-records")
    )
    func gap() throws {
        var load = loading(from: 0)
        #expect(load.receive(record(0)) == .taken(skipped: nil))
        #expect(load.receive(record(3)) == .seek(1))
        #expect(load.receive(record(3)) == .taken(skipped: 1..<3))
        let batch = try #require(nextBatch(of: &load))
        #expect(batch.records.map(\.offset) == [0, 3])
        #expect(batch.end == 4)
    }

    @Test("offsets at the end of the partition that belong to no record are stored as loaded")
    func trailingGap() throws {
        var load = loading(from: 5)
        #expect(load.reachedEnd(at: 7) == .seek(5))
        #expect(load.reachedEnd(at: 7) == .taken(skipped: 5..<7))
        let batch = try #require(nextBatch(of: &load))
        #expect(batch.records.isEmpty)
        #expect((batch.start, batch.end) == (5, 7))
        load.loaded(.committed(end: 7), now: .zero)
        #expect(load.committedOffset == 7)
    }

    @Test("a record of another plan holds the partition up until its time is over")
    func otherPlan() throws {
        var limits = LoadLimits()
        limits.confirmAfter = .seconds(3600)
        var load = loading(from: 0, limits: limits)
        _ = load.receive(record(0))
        _ = load.receive(record(1))
        _ = try #require(nextBatch(of: &load))
        load.loaded(.committed(end: 1, wait: .seconds(300)), now: .seconds(10))
        #expect(load.committedOffset == 1)
        #expect(nextBatch(of: &load, now: .seconds(309)) == nil)
        #expect(load.wakesAt(now: .seconds(20)) == .seconds(310))
        let late = try #require(nextBatch(of: &load, now: .seconds(310)))
        #expect(late.records.map(\.offset) == [1])
    }

    @Test("a broken table holds the partition up for at most ten seconds", .promise("loader-broken-table"))
    func brokenTable() throws {
        var load = loading(from: 0)
        _ = load.receive(record(0))
        _ = nextBatch(of: &load)
        load.loaded(.broken(["A"], acceptsOthers: true), now: .seconds(100))
        let soon = try #require(nextBatch(of: &load, now: .seconds(109)))
        #expect(soon.refusing.isEmpty)
        load.loaded(.broken(["A"], acceptsOthers: true), now: .seconds(109))
        // At that time, however long the pause would otherwise be.
        #expect(try #require(nextBatch(of: &load, now: .seconds(110))).refusing == ["A"])
        load.loaded(.broken(["A"], acceptsOthers: true), now: .seconds(120))
        #expect(try #require(nextBatch(of: &load, now: .seconds(401))).refusing == ["A"])
        // Batches without events for the table do not show that it is repaired.
        load.loaded(.committed(end: 1, broken: ["A"]), now: .seconds(401))
        _ = load.receive(record(1))
        #expect(try #require(nextBatch(of: &load, now: .seconds(402))).refusing == ["A"])
        load.loaded(.committed(end: 2), now: .seconds(402))
        _ = load.receive(record(2))
        #expect(try #require(nextBatch(of: &load, now: .seconds(700))).refusing == ["A"])
        // Nothing was broken for long.
        load.loaded(.committed(end: 3), now: .seconds(701))
        _ = load.receive(record(3))
        #expect(try #require(nextBatch(of: &load, now: .seconds(702))).refusing.isEmpty)
        load.loaded(.broken(["A"], acceptsOthers: true), now: .seconds(703))
        #expect(try #require(nextBatch(of: &load, now: .seconds(704))).refusing.isEmpty)
    }

    @Test(
        "each broken table waits for itself, and none while the destination accepts nothing",
        .promise("loader-broken-table")
    )
    func brokenTables() throws {
        var load = loading(from: 0)
        _ = load.receive(record(0))
        _ = nextBatch(of: &load)
        load.loaded(.broken(["A"], acceptsOthers: true), now: .seconds(100))
        _ = try #require(nextBatch(of: &load, now: .seconds(108)))
        load.loaded(.broken(["A", "B"], acceptsOthers: true), now: .seconds(108))
        #expect(try #require(nextBatch(of: &load, now: .seconds(118))).refusing == ["A", "B"])
        // An outage: the wait begins anew when others are accepted again.
        load.loaded(.broken(["A", "B"], acceptsOthers: false), now: .seconds(118))
        _ = try #require(nextBatch(of: &load, now: .seconds(119)))
        load.loaded(.failed, now: .seconds(119))
        #expect(try #require(nextBatch(of: &load, now: .seconds(127))).refusing.isEmpty)
        load.loaded(.broken(["A"], acceptsOthers: true), now: .seconds(127))
        #expect(try #require(nextBatch(of: &load, now: .seconds(136))).refusing.isEmpty)
        load.loaded(.broken(["A"], acceptsOthers: true), now: .seconds(136))
        #expect(try #require(nextBatch(of: &load, now: .seconds(137))).refusing == ["A"])
    }

    @Test("only what others load after the last attempt shows that the destination works")
    func evidenceAfterLastAttempt() throws {
        var load = loading(from: 0)
        func next(_ offset: Int64, now: Duration) throws -> Load.Batch {
            _ = load.receive(record(offset))
            return try #require(nextBatch(of: &load, now: now))
        }
        _ = try next(0, now: .seconds(100))
        load.loaded(.broken(["A"], acceptsOthers: true), now: .seconds(100))
        #expect(try #require(nextBatch(of: &load, now: .seconds(110))).refusing == ["A"])
        load.loaded(.committed(end: 1, broken: ["A"]), now: .seconds(110))
        #expect(try next(1, now: .seconds(111)).brokenAt == .seconds(110))
        load.loaded(.committed(end: 2), now: .seconds(111))
        _ = try next(2, now: .seconds(140))
        load.loaded(.broken(["B"], acceptsOthers: false), now: .seconds(140))
        #expect(try #require(nextBatch(of: &load, now: .seconds(150))).brokenAt == .seconds(140))
    }

    @Test(
        "a table that breaks while the events of another one are refused waits like the first one",
        .promise("loader-broken-table")
    )
    func secondBrokenTable() throws {
        var load = loading(from: 0)
        _ = load.receive(record(0))
        _ = nextBatch(of: &load)
        load.loaded(.broken(["A"], acceptsOthers: true), now: .seconds(100))
        #expect(try #require(nextBatch(of: &load, now: .seconds(110))).refusing == ["A"])
        load.loaded(.broken(["A", "B"], acceptsOthers: true), now: .seconds(111))
        #expect(try #require(nextBatch(of: &load, now: .seconds(120))).refusing == ["A"])
        load.loaded(.broken(["A", "B"], acceptsOthers: true), now: .seconds(120))
        #expect(try #require(nextBatch(of: &load, now: .seconds(121))).refusing == ["A", "B"])
    }

    @Test(
        "a table that was repaired, or was last broken long ago, holds the partition up again when it breaks anew",
        .promise("loader-broken-table")
    )
    func brokenAnew() throws {
        var load = loading(from: 0)
        func next(_ offset: Int64, now: Duration) throws -> Bool {
            _ = load.receive(record(offset))
            return try #require(nextBatch(of: &load, now: now)).refusing == ["A"]
        }
        // Repaired before its events were refused.
        _ = try next(0, now: .zero)
        load.loaded(.broken(["A"], acceptsOthers: true), now: .zero)
        _ = try #require(nextBatch(of: &load, now: .seconds(2)))
        load.loaded(.committed(end: 1), now: .seconds(2))
        #expect(try next(1, now: .seconds(20)) == false)
        load.loaded(.broken(["A"], acceptsOthers: true), now: .seconds(20))
        #expect(try #require(nextBatch(of: &load, now: .seconds(29))).refusing.isEmpty)
        load.loaded(.broken(["A"], acceptsOthers: true), now: .seconds(29))
        #expect(try #require(nextBatch(of: &load, now: .seconds(40))).refusing == ["A"])
        load.loaded(.committed(end: 2, broken: ["A"]), now: .seconds(40))
        // Long afterwards.
        #expect(try next(2, now: .seconds(3600)) == false)
        load.loaded(.broken(["A"], acceptsOthers: true), now: .seconds(3600))
        #expect(try #require(nextBatch(of: &load, now: .seconds(3602))).refusing.isEmpty)
    }

    @Test("a batch that took too long is halved, and grows again with success")
    func tooLarge() throws {
        var load = loading(from: 0)
        for offset in 0..<8 { _ = load.receive(record(Int64(offset))) }
        #expect(try #require(nextBatch(of: &load)).records.count == 8)
        load.loaded(.tooLarge, now: .zero)
        #expect(try #require(nextBatch(of: &load)).records.count == 4)
        load.loaded(.tooLarge, now: .zero)
        #expect(try #require(nextBatch(of: &load)).records.count == 2)
        load.loaded(.committed(end: 2), now: .zero)
        #expect(try #require(nextBatch(of: &load)).records.count == 6)
    }

    @Test("where records are missing, the partition is not loaded, or continues behind them if the loss is accepted")
    func loss() throws {
        let halt = Halt.belowLowWatermark(next: 3, low: 9)
        var load = comparing(from: 3, limits: LoadLimits())
        load.compared(.differs(halt, restart: 9), now: .zero)
        #expect(load.halt == halt)
        #expect(!load.wantsRecords)
        #expect(load.nextOperation(now: .seconds(3600)) == nil)

        var limits = LoadLimits()
        limits.acceptsLoss = true
        load = comparing(from: 3, limits: limits)
        load.compared(.differs(halt, restart: 9), now: .zero)
        guard case .accept(let loss, let epoch) = load.nextOperation(now: .zero) else {
            Issue.record("the loss is not accepted")
            return
        }
        #expect((loss.first, loss.next, epoch) == (3, 9, 1))
        load.accepted(isStored: true, now: .zero)
        guard case .compare(let position) = load.nextOperation(now: .zero) else {
            Issue.record("the new position is not compared")
            return
        }
        #expect(position == StoredPosition(nextOffset: 9, lastRecord: nil))
    }

    @Test("a full table of refused records is reported until a batch is committed", .promise("refused-record"))
    func refusedFull() throws {
        var load = loading(from: 0)
        _ = load.receive(record(0))
        _ = nextBatch(of: &load)
        load.loaded(.refusedFull(limit: 7), now: .zero)
        #expect(load.halt == .refusedFull(limit: 7))
        #expect(nextBatch(of: &load, now: .zero) == nil)
        _ = try #require(nextBatch(of: &load, now: .seconds(60)))
        load.loaded(.committed(end: 1), now: .seconds(60))
        #expect(load.halt == nil)
    }

    @Test(
        "a batch with more refused records than there is room for is halved until a part of it has room",
        .promise("refused-record")
    )
    func refusedBeyondLimit() throws {
        var load = loading(from: 0)
        for offset in 0..<4 { _ = load.receive(record(Int64(offset))) }
        _ = nextBatch(of: &load)
        load.loaded(.refusedFull(limit: 7), now: .zero)
        #expect(load.halt == nil)
        #expect(try #require(nextBatch(of: &load)).records.count == 2)
        load.loaded(.refusedFull(limit: 7), now: .zero)
        #expect(try #require(nextBatch(of: &load)).records.count == 1)
        load.loaded(.refusedFull(limit: 7), now: .zero)
        #expect(load.halt == .refusedFull(limit: 7))
        #expect(nextBatch(of: &load) == nil)
        #expect(try #require(nextBatch(of: &load, now: .seconds(60))).records.count == 1)
        load.loaded(.committed(end: 1), now: .seconds(60))
        #expect(load.halt == nil)
    }

    @Test("if Kafka loses the place while a batch is under way, the position is read again after the batch")
    func offsetIsGone() throws {
        var load = loading(from: 0)
        _ = load.receive(record(0))
        _ = nextBatch(of: &load)
        load.offsetIsGone()
        #expect(!load.wantsRecords)
        load.loaded(.committed(end: 1), now: .zero)
        guard case .renew(epoch: 1) = load.nextOperation(now: .zero) else {
            Issue.record("the position is not read again")
            return
        }
    }

    @Test("only a partition whose position is certain is read again from its next record")
    func readingOffset() throws {
        var load = loading(from: 0)
        _ = load.receive(record(0))
        #expect(load.readingOffset == 1)
        _ = nextBatch(of: &load)
        load.loaded(.committed(end: 1), now: .zero)
        // A confirmation, after which loading continues at the same record.
        guard case .renew(epoch: 1) = load.nextOperation(now: .seconds(60)) else {
            Issue.record("the position is not confirmed")
            return
        }
        #expect(load.readingOffset == 1)
        load.claimed(
            .granted(epoch: 1, StoredPosition(nextOffset: 1, lastRecord: nil)),
            now: .seconds(60)
        )
        #expect(load.readingOffset == 1)
        load.offsetIsGone()
        #expect(load.readingOffset == nil)
        guard case .renew(epoch: 1) = load.nextOperation(now: .seconds(60)) else {
            Issue.record("the position is not read again")
            return
        }
        #expect(load.readingOffset == nil)
    }

    @Test(
        "a batch that is committed only up to a waiting record shows that there is room for refused records again"
    )
    func partOfBatch() throws {
        var load = loading(from: 0)
        _ = load.receive(record(0))
        _ = nextBatch(of: &load)
        load.loaded(.refusedFull(limit: 7), now: .zero)
        _ = try #require(nextBatch(of: &load, now: .seconds(60)))
        load.loaded(.committed(end: 0, wait: .seconds(1)), now: .seconds(60))
        #expect(load.halt == .refusedFull(limit: 7))
        _ = try #require(nextBatch(of: &load, now: .seconds(61)))
        load.loaded(.committed(end: 1, wait: .seconds(300)), now: .seconds(61))
        #expect(load.halt == nil)
    }

    @Test("a partition that is given up before its claim has no offset to commit")
    func unclaimed() {
        var load = Load(partition, limits: LoadLimits())
        _ = load.nextOperation(now: .zero)
        load.revoke(deadline: .seconds(30))
        #expect(load.isGivenUp)
        #expect(load.committedOffset == nil)
    }

    @Test("the position of an idle partition is read again after a minute, and nothing changes if it is the same")
    func idle() throws {
        var load = loading(from: 5)
        #expect(load.demand(now: .seconds(59)) == nil)
        #expect(load.wakesAt(now: .zero) == .seconds(60))
        #expect(load.demand(now: .seconds(60)) == .claim)
        renew(&load, now: .seconds(60), position: 5)
        #expect(load.receive(record(5)) == .taken(skipped: nil))
        #expect(try #require(nextBatch(of: &load, now: .seconds(61))).start == 5)
    }

    @Test(
        "if the destination was restored, an idle partition is loaded again from the restored position",
        .promise("restored-database")
    )
    func restored() {
        var load = loading(from: 5)
        renew(&load, now: .seconds(60), position: 3)
        guard case .compare(let position) = load.nextOperation(now: .seconds(60)) else {
            Issue.record("the restored position is not compared")
            return
        }
        #expect(position.nextOffset == 3)
    }

    @Test("a partition that is held up keeps few records, and takes the others again from Kafka")
    func heldUp() throws {
        var limits = LoadLimits()
        limits.heldUpBytes = 30
        var load = loading(from: 0, limits: limits)
        for offset in 0..<10 { _ = load.receive(record(Int64(offset))) }
        _ = nextBatch(of: &load)
        load.loaded(.failed, now: .zero)
        #expect(load.isHeldUp && load.bufferedBytes == 30)
        #expect(!load.wantsRecords)
        #expect(load.takeSeek() == 3)
        #expect(load.takeSeek() == nil)
        let batch = try #require(nextBatch(of: &load, now: .seconds(60)))
        #expect(batch.end == 3)
        load.loaded(.committed(end: 3), now: .seconds(60))
        #expect(!load.isHeldUp && load.wantsRecords)
        #expect(load.receive(record(3)) == .taken(skipped: nil))
    }

    @Test("an incomplete batch waits for more records, from the arrival of the first; a complete one is loaded at once")
    func linger() throws {
        var limits = LoadLimits()
        limits.linger = .seconds(30)
        limits.batchRecords = 3
        var load = loading(from: 0, limits: limits)
        receive([0], into: &load, now: .seconds(1))
        receive([1], into: &load, now: .seconds(20))
        #expect(load.demand(now: .seconds(30)) == nil)
        #expect(load.wakesAt(now: .seconds(30)) == .seconds(31))
        #expect(load.demand(now: .seconds(31)) == .load)
        receive([2, 3], into: &load, now: .seconds(21))
        #expect(load.demand(now: .seconds(21)) == .load)
        #expect(try #require(nextBatch(of: &load, now: .seconds(21))).end == 3)
        // The fourth one is not in the batch, and does not wait for its end.
        receive([4], into: &load, now: .seconds(40))
        load.loaded(.committed(end: 3), now: .seconds(45))
        #expect(load.demand(now: .seconds(50)) == nil)
        #expect(load.wakesAt(now: .seconds(50)) == .seconds(51))
        #expect(load.demand(now: .seconds(51)) == .load)
        // No partition may read more.
        #expect(load.demand(now: .seconds(50), lingers: false) == .load)
    }

    @Test("a batch that has failed is repeated after its pause, without waiting for more records")
    func lingerAfterFailure() throws {
        var limits = LoadLimits()
        limits.linger = .seconds(3600)
        limits.confirmAfter = .seconds(10_000)
        var load = loading(from: 0, limits: limits)
        receive([0], into: &load, now: .zero)
        #expect(load.demand(now: .seconds(3599)) == nil)
        _ = try #require(nextBatch(of: &load, now: .seconds(3600)))
        receive([1], into: &load, now: .seconds(3601))
        load.loaded(.failed, now: .seconds(3602))
        #expect(load.demand(now: .seconds(3700)) == .load)
        #expect(try #require(nextBatch(of: &load, now: .seconds(3700))).end == 2)
        load.loaded(.committed(end: 2), now: .seconds(3701))
        // Nothing is left, so the next record is the first to wait.
        receive([2], into: &load, now: .seconds(3710))
        #expect(load.demand(now: .seconds(7309)) == nil)
        #expect(load.demand(now: .seconds(7310)) == .load)
    }

    @Test("offsets that belong to no record are stored without waiting for records")
    func lingerWithoutRecords() {
        var limits = LoadLimits()
        limits.linger = .seconds(30)
        var load = loading(from: 5, limits: limits)
        _ = load.reachedEnd(at: 7)
        _ = load.reachedEnd(at: 7)
        load.startLinger(now: .zero)
        #expect(load.demand(now: .zero) == .load)
    }

    @Test("a renewal after a failure does not shorten the pause before the next attempt")
    func backoff() throws {
        var load = loading(from: 0)
        _ = load.receive(record(0))
        for failures in 1...4 {
            let now = Duration.seconds(failures * 20)
            _ = try #require(nextBatch(of: &load, now: now))
            load.loaded(.failed, now: now)
            _ = try #require(nextBatch(of: &load, now: now + .seconds(10)))
            load.loaded(.unknown, now: now + .seconds(10))
            renew(&load, now: now + .seconds(10), position: 0)
            guard case .compare = load.nextOperation(now: now + .seconds(10)) else { return }
            load.compared(.matches, now: now + .seconds(10))
            _ = load.receive(record(0))
            #expect(load.isFailing)
        }
        let now = Duration.seconds(100)
        _ = try #require(nextBatch(of: &load, now: now))
        load.loaded(.failed, now: now)
        #expect(nextBatch(of: &load, now: now + .seconds(1)) == nil)
    }

    // MARK: Steps

    private func record(_ offset: Int64) -> Record { Record(offset: offset, isPoison: false) }

    /// Takes records that arrive now.
    private func receive(_ offsets: [Int64], into load: inout Load, now: Duration) {
        for offset in offsets { #expect(load.receive(record(offset)) == .taken(skipped: nil)) }
        load.startLinger(now: now)
    }

    private let partition = LoadedPartition(loader: "l", cluster: "c", topic: "t", number: 0)

    private func renew(_ load: inout Load, now: Duration, position: Int64) {
        guard case .renew(let epoch) = load.nextOperation(now: now) else {
            Issue.record("the position is not read again")
            return
        }
        load.claimed(.granted(epoch: epoch, StoredPosition(nextOffset: position, lastRecord: nil)), now: now)
    }

    private func comparing(from offset: Int64, limits: LoadLimits) -> Load {
        var load = Load(partition, limits: limits)
        _ = load.nextOperation(now: .zero)
        load.located(offset, now: .zero)
        _ = load.nextOperation(now: .zero)
        load.claimed(.granted(epoch: 1, StoredPosition(nextOffset: offset, lastRecord: nil)), now: .zero)
        _ = load.nextOperation(now: .zero)
        return load
    }

    private func loading(from offset: Int64, limits: LoadLimits = LoadLimits()) -> Load {
        var load = comparing(from: offset, limits: limits)
        load.compared(.matches, now: .zero)
        return load
    }

    private func nextBatch(of load: inout Load, now: Duration = .zero) -> Load.Batch? {
        guard case .load(let batch) = load.nextOperation(now: now) else { return nil }
        return batch
    }
}
