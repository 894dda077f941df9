import EventModel
import TrackerKit

extension RelativeClock {
    /// Runs work that does not end at cancellation by itself, such as waiting for an event loop.
    ///
    /// After the limit, and at cancellation, `abandon` is called, with which the work has to end soon. It is also called, perhaps once
    /// more, after the work has failed.
    ///
    /// - Throws: What the work throws; `timeout` after the limit; `cancelled`.
    func limit<Value: Sendable>(
        _ limit: Duration,
        else timeout: TrackerError,
        abandon: @escaping @Sendable () -> Void,
        _ work: @escaping @Sendable () async throws(TrackerError) -> Value
    ) async throws(TrackerError) -> Value {
        let deadline = now() + limit
        let result = await withTaskGroup(of: (isOfLimit: Bool, result: Result<Value, TrackerError>).self) { group in
            let isDone = Interrupt()
            let isAbandoned = Interrupt()
            group.addTask {
                do throws(TrackerError) {
                    let value = try await work()
                    isDone.raise()
                    return (false, .success(value))
                } catch {
                    isDone.raise()
                    return (false, .failure(error))
                }
            }
            group.addTask {
                let isOver = (try? await sleepUntil(deadline)) != nil
                if !isDone.isRaised {
                    isAbandoned.raise()
                    abandon()
                }
                return (true, .failure(isOver ? timeout : .cancelled))
            }
            let first = await group.next() ?? (true, .failure(.cancelled))
            group.cancelAll()
            guard case .failure = first.result else { return first.result }
            let second = await group.next()
            // The work may have succeeded just as the limit passed. Its value, such as a connection, must not be left behind.
            if case .success(let value)? = second?.result, !isAbandoned.isRaised { return .success(value) }
            abandon()
            // Work that was abandoned fails for that reason, and may do so before the limit's own task returns.
            return isAbandoned.isRaised && !first.isOfLimit ? second?.result ?? first.result : first.result
        }
        return try result.get()
    }
}
