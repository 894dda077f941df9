import EventModel
import SluiceKafka
import TrackerKit

/// The operations of partitions.
extension GroupMember {
    /// Starts what the partitions have to do next: claims in the order of the partitions, and then batches in turn.
    func startOperations(_ offsets: OffsetRequests) {
        let now = clock.now()
        var demands: [Load.Demand: [Int32]] = [:]
        for number in partitions.keys.sorted() {
            guard let demand = partitions[number]?.load.demand(now: now) else { continue }
            demands[demand, default: []].append(number)
        }
        if !asksBrokers, let numbers = demands[.kafka] { ask(about: numbers, offsets, now) }
        for number in (demands[.claim] ?? []) + turns.sorted(demands[.load] ?? [])
        where operationCounts[lane(of: number), default: 0] < Self.maximumOperations {
            start(number, now)
        }
    }

    /// Starts the operations of partitions that need offsets from the brokers, with one request for all of them.
    private func ask(about numbers: [Int32], _ offsets: OffsetRequests, _ now: Duration) {
        let operations = numbers.compactMap { number -> (MemberInbox.Ticket, Load.Operation)? in
            guard let operation = partitions[number]?.load.nextOperation(now: now),
                let assignment = partitions[number]?.assignment
            else { return nil }
            return (MemberInbox.Ticket(partition: number, assignment: assignment), operation)
        }
        guard !operations.isEmpty else { return }
        asksBrokers = true
        let (start, usesGroup) = (configuration.start, !loading.destination.storesPositions)
        inbox.start {
            let found = await offsets.watermarks(of: operations.map(\.0.partition))
            var results: [(MemberInbox.Ticket, MemberInbox.OperationResult)] = []
            for (ticket, operation) in operations {
                guard let watermarks = found[ticket.partition] else { continue }
                if case .compare(let position) = operation {
                    results.append((ticket, .watermarks(watermarks, position)))
                } else {
                    let start = await Self.locate(
                        ticket.partition,
                        in: watermarks,
                        start,
                        usesGroup: usesGroup,
                        offsets
                    )
                    results.append((ticket, .located(start)))
                }
            }
            return .answered(results)
        }
    }

    /// Where a loader begins that is new to the partition.
    private static func locate(
        _ number: Int32,
        in watermarks: Result<KafkaConsumer.Watermarks, TrackerError>,
        _ start: LoaderConfiguration.Start,
        usesGroup: Bool,
        _ offsets: OffsetRequests
    ) async -> Result<MemberInbox.Start, TrackerError> {
        do throws(TrackerError) {
            let watermarks = try watermarks.get()
            if usesGroup, let offset = try await offsets.committedOffset(of: number) {
                return .success(MemberInbox.Start(offset: offset, watermarks: watermarks, isStored: true))
            }
            var offset = watermarks.low
            if case .since(let time) = start {
                let milliseconds = time.microseconds / 1000
                offset = max(offset, try await offsets.offset(of: number, since: milliseconds, end: watermarks.high))
            }
            return .success(MemberInbox.Start(offset: offset, watermarks: watermarks, isStored: false))
        } catch {
            return .failure(error)
        }
    }

    private func start(_ number: Int32, _ now: Duration) {
        guard let operation = partitions[number]?.load.nextOperation(now: now), let load = partitions[number]?.load
        else { return }
        let (partition, destination) = (load.partition, loading.destination)
        switch operation {
        case .claim(let start):
            run(number) {
                do throws(TrackerError) {
                    return .claimed(.success(try await destination.claim(partition, start: start)))
                } catch {
                    return .claimed(.failure(error))
                }
            }
        case .renew(let epoch):
            let offset = load.committedOffset ?? 0
            run(number) {
                do throws(TrackerError) {
                    return .claimed(.success(try await destination.renew(partition, epoch: epoch, at: offset)))
                } catch {
                    return .claimed(.failure(error))
                }
            }
        case .accept(let loss, let epoch):
            run(number) {
                do throws(TrackerError) {
                    let isStored = try await destination.acceptLoss(loss, of: partition, epoch: epoch)
                    return .accepted(.success(isStored), loss)
                } catch {
                    return .accepted(.failure(error), loss)
                }
            }
        case .load(let batch):
            let loading = loading
            turns.serve(number)
            run(number) { .loaded(await loading.load(batch, in: partition)) }
        case .locate, .compare: preconditionFailure("these need the brokers")
        }
    }

    private func run(
        _ number: Int32,
        _ operation: @escaping @Sendable () async -> MemberInbox.OperationResult
    ) {
        guard let assignment = partitions[number]?.assignment else { return }
        let ticket = MemberInbox.Ticket(partition: number, assignment: assignment)
        operationCounts[lane(of: number), default: 0] += 1
        partitions[number]?.operation = inbox.start { .ended(ticket, await operation()) }
    }

    private func lane(of number: Int32) -> Int { loading.destination.lane(ofPartition: number) }

    // MARK: Results

    /// Handles the end of an operation, or the answer to a request.
    func handle(_ item: MemberInbox.Item) {
        switch item {
        case .watermarks(let found, let error):
            watermarks.merge(found) { $1 }
            asksForWatermarksAt = clock.now() + Self.watermarkPause
            if let error {
                requestLog.failed(error, now: clock.now())
            } else {
                requestLog.succeeded(now: clock.now())
            }
        case .answered(let results):
            asksBrokers = false
            for (ticket, result) in results { finish(result, of: ticket) }
        case .ended(let ticket, let result):
            operationCounts[lane(of: ticket.partition), default: 0] -= 1
            finish(result, of: ticket)
        }
    }

    private func finish(_ result: MemberInbox.OperationResult, of ticket: MemberInbox.Ticket) {
        // Otherwise it belongs to an earlier assignment.
        guard partitions[ticket.partition]?.assignment == ticket.assignment else { return }
        partitions[ticket.partition]?.operation = nil
        finish(result, of: ticket.partition, clock.now())
    }

    private func finish(_ result: MemberInbox.OperationResult, of number: Int32, _ now: Duration) {
        switch result {
        case .located(let result):
            let start = value(of: result)
            partitions[number]?.start = start
            if let start { watermarks[number] = start.watermarks }
            partitions[number]?.load.located(start?.offset, now: now)
        case .watermarks(let result, let position):
            guard let found = value(of: result) else {
                partitions[number]?.load.compared(.failed, now: now)
                return
            }
            watermarks[number] = found
            compare(position, with: found, of: number)
        case .claimed(let result): finish(result, of: number, now)
        case .accepted(let result, let loss):
            let isStored = try? result.get()
            partitions[number]?.load.accepted(isStored: isStored, now: now)
            ended(number, result.failure, now)
            guard isStored == true else { return }
            partitions[number]?.log.accepted(loss)
            uncommitted[number] = loss.next
        case .loaded(let report): finish(report, of: number, now)
        }
    }

    private func finish(_ result: Result<PartitionClaim?, TrackerError>, of number: Int32, _ now: Duration) {
        let isRenewal = partitions[number]?.load.epoch != nil
        switch result {
        case .success(let claim?):
            partitions[number]?.load.claimed(.granted(epoch: claim.epoch, claim.position), now: now)
            if let time = claim.position.lastRecord?.timestamp { partitions[number]?.lastTimestamp = time }
            if !isRenewal {
                let start = partitions[number]?.start
                let isFirst = loading.destination.storesPositions ? claim.epoch == 1 : start?.isStored == false
                partitions[number]?.log.claimed(at: claim.position, from: isFirst ? start : nil)
                compareAtOnce(claim.position, of: number, now)
            }
        case .success(nil):
            partitions[number]?.load.claimed(.superseded, now: now)
            partitions[number]?.supersededSince = now
            partitions[number]?.log.superseded()
        case .failure:
            partitions[number]?.load.claimed(.failed, now: now)
        }
        ended(number, result.failure, now)
    }

    /// Compares a position with the offsets that were found before the claim, if it is between them.
    ///
    /// Otherwise the brokers have to be asked again, because the earlier owner may have loaded later records meanwhile.
    private func compareAtOnce(_ position: StoredPosition, of number: Int32, _ now: Duration) {
        guard let known = watermarks[number], Halt(at: position.nextOffset, watermarks: known) == nil,
            case .compare = partitions[number]?.load.nextOperation(now: now)
        else { return }
        compare(position, with: known, of: number)
    }

    private func finish(_ report: BatchReport, of number: Int32, _ now: Duration) {
        partitions[number]?.load.loaded(report.outcome, now: now)
        if let offset = partitions[number]?.load.takeSeek() { partitions[number]?.pendingSeek = offset }
        ended(number, report.error, now)
        status.count(loaded: report.loaded, refused: report.refused)
        if let time = report.lastTimestamp { partitions[number]?.lastTimestamp = time }
        if report.refused > 0 { partitions[number]?.log.refused(report, now: now) }
        if case .committed(let end, _, let wait) = report.outcome {
            partitions[number]?.log.waits(at: wait == nil ? nil : end, for: wait ?? .zero, now: now)
        }
        if let offset = partitions[number]?.load.committedOffset { uncommitted[number] = offset }
    }

    /// What was under way in a partition that was given up was cancelled, which is no failure.
    private func ended(_ number: Int32, _ error: TrackerError?, _ now: Duration) {
        guard let load = partitions[number]?.load, !load.isGivenUp, error != nil || !load.isFailing else { return }
        partitions[number]?.log.ended(error, now: now)
    }

    private func value<Value>(of answer: Result<Value, TrackerError>) -> Value? {
        switch answer {
        case .success(let value): return value
        case .failure(let error):
            requestLog.failed(error, now: clock.now())
            return nil
        }
    }
}

extension Result {
    var failure: Failure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
