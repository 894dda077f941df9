import Synchronization

extension EventClient {
    /// Sends the events until the task is cancelled.
    ///
    /// Returns at once while another call runs.
    public func run() async {
        let isAlone = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard isAlone else { return }
        defer { state.withLock { $0.isRunning = false } }
        while !Task.isCancelled {
            switch nextStep() {
            case .send(let range): await send(range)
            case .wait(let time): await pause(until: time)
            }
        }
    }

    /// Waits until every event that was tracked before is settled, without lingering; `run` must be running.
    ///
    /// - Throws: `ClientError` with `timeout` if that takes longer than `limit`, or if the task is cancelled. The events stay in the
    ///   queue.
    public func flush(within limit: Duration = .seconds(30)) async throws {
        let number = state.withLock { state in
            defer { state.nextFlush += 1 }
            return state.nextFlush
        }
        let timer = clock
        let deadline = clock.now() + limit
        let isSettled = await withTaskGroup(of: Void.self) { group in
            group.addTask {
                try? await timer.sleepUntil(deadline)
                self.endFlush(number)
            }
            let isSettled = await withTaskCancellationHandler {
                await withCheckedContinuation { beginFlush(number, until: deadline, $0) }
            } onCancel: {
                endFlush(number)
            }
            group.cancelAll()
            return isSettled
        }
        guard isSettled else { throw ClientError(.timeout, "Not all events were sent within \(limit).") }
    }

    private func beginFlush(
        _ number: UInt64,
        until deadline: Duration,
        _ continuation: CheckedContinuation<Bool, Never>
    ) {
        let (result, woken): (Bool?, CheckedContinuation<Void, Never>?) = state.withLock { state in
            guard let last = state.queue.batches.last else { return (true, nil) }
            // What ends the flush may have come before it began.
            guard !Task.isCancelled, clock.now() < deadline else { return (false, nil) }
            state.queue.seal()
            state.flushes[number] = ClientState.Flush(lastBatch: last.number, continuation: continuation)
            return (nil, state.wake())
        }
        woken?.resume()
        if let result { continuation.resume(returning: result) }
    }

    private func endFlush(_ number: UInt64) {
        state.withLock { $0.flushes.removeValue(forKey: number) }?.continuation.resume(returning: false)
    }

    private func nextStep() -> SendState.Step {
        state.withLock { state in
            let batches = state.queue.batches
            let step = state.sending.next(
                events: batches.first?.events,
                mayGrow: state.queue.mayGrow,
                now: clock.now()
            )
            // From now on the batch stays as it is.
            if case .send = step, state.queue.mayGrow { state.queue.seal() }
            return step
        }
    }

    private func send(_ range: Range<Int>) async {
        let lines: [UInt8]
        do throws(ClientError) {
            let contents = try state.withLock { state throws(ClientError) in try state.queue.contentsOfFirst() }
            guard let contents else { return try repair() }
            lines = contents
        } catch {
            configuration.onReport(.unusable(reason: error.message))
            return settle(.later(after: nil, reason: error.message), of: range, reports: false)
        }
        let answer = await answer(to: Self.lines(range, of: lines))
        let outcome = BatchOutcome(answer, events: range.count)
        // A cancelled request says nothing about the server.
        settle(outcome, of: range, reports: !(answer == nil && Task.isCancelled))
    }

    /// The answer to these lines; `nil` if there is none in time.
    private func answer(to lines: [UInt8]) async -> TransportAnswer? {
        let deadline = clock.now() + configuration.timeout * Self.timeoutsOfRequest
        return await withTaskGroup(of: TransportAnswer?.self) { group in
            group.addTask { try? await self.transport.send(lines) }
            group.addTask {
                try? await self.clock.sleepUntil(deadline)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    /// How long a request may take in all, in timeouts: a server that sends a byte now and then is never silent.
    private static var timeoutsOfRequest: Int { 10 }

    private func repair() throws(ClientError) {
        let (lost, finished) = try state.withLock { state throws(ClientError) in
            let lost = try state.queue.repairFirst()
            state.sending.restart()
            return (lost, state.finishedFlushes())
        }
        for flush in finished { flush.resume(returning: true) }
        configuration.onReport(.lost(events: lost, reason: "their file was removed or shortened by another program"))
    }

    private func settle(_ outcome: BatchOutcome, of range: Range<Int>, reports: Bool) {
        var problem: ClientError?
        let finished = state.withLock { state in
            let events = state.queue.batches[0].events
            let removesBatch = state.sending.returned(
                outcome,
                of: range,
                events: events,
                now: clock.now(),
                jitter: jitter()
            )
            guard removesBatch else { return [CheckedContinuation<Bool, Never>]() }
            do throws(ClientError) { try state.queue.removeFirst() } catch { problem = error }
            return state.finishedFlushes()
        }
        for flush in finished { flush.resume(returning: true) }
        if let problem { configuration.onReport(.unusable(reason: problem.message)) }
        if reports { report(outcome, events: range.count) }
    }

    private func report(_ outcome: BatchOutcome, events: Int) {
        switch outcome {
        case .settled(let rejected): if !rejected.isEmpty { configuration.onReport(.rejected(rejected)) }
        case .tooLarge: if events == 1 { configuration.onReport(.lost(events: 1, reason: "it is too large")) }
        case .later(_, let reason): configuration.onReport(.delayed(reason: reason))
        case .refused(let reason): configuration.onReport(.refused(reason: reason))
        }
    }

    /// The lines of these events.
    private static func lines(_ range: Range<Int>, of bytes: [UInt8]) -> [UInt8] {
        let newline = UInt8(ascii: "\n")
        let lines = bytes.split(separator: newline)
        guard range.count < lines.count else { return bytes }
        return lines[range].reduce(into: []) { $0 += $1 + [newline] }
    }
}

// MARK: - Waiting

extension EventClient {
    /// Waits for a change, at most until this time.
    private func pause(until time: Duration?) async {
        await withTaskGroup(of: Void.self) { group in
            if let time {
                group.addTask {
                    guard (try? await self.clock.sleepUntil(time)) != nil else { return }
                    self.state.withLock { $0.wake() }?.resume()
                }
            }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isWoken = state.withLock { state in
                        if state.isWoken || Task.isCancelled {
                            state.isWoken = false
                            return true
                        }
                        state.parked = continuation
                        return false
                    }
                    if isWoken { continuation.resume() }
                }
            } onCancel: {
                state.withLock { $0.wake() }?.resume()
            }
            group.cancelAll()
        }
    }
}
