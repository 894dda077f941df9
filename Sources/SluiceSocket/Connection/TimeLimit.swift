package import EventModel
package import TrackerKit

extension RelativeClock {
    /// Runs work that does not end at cancellation by itself, such as waiting for an event loop.
    ///
    /// After the limit, and at cancellation, `abandon` is called, with which the work has to end soon. Whatever it then returns does
    /// not count, because what it used, such as a connection, is closed. `abandon` is also called after the work has failed.
    ///
    /// - Throws: What the work throws; `timeout` after the limit; `cancelled`.
    package func limit<Value: Sendable>(
        _ limit: Duration,
        else timeout: TrackerError,
        abandon: @escaping @Sendable () -> Void,
        _ work: @Sendable () async throws(TrackerError) -> Value
    ) async throws(TrackerError) -> Value {
        let deadline = now() + limit
        let isDone = Interrupt()
        let (result, abandonment) = await withTaskGroup(of: TrackerError?.self) { group in
            group.addTask {
                let isOver = (try? await sleepUntil(deadline)) != nil
                if isDone.isRaised { return nil }
                abandon()
                return isOver ? timeout : .cancelled
            }
            let result = await Self.result(of: work)
            isDone.raise()
            group.cancelAll()
            return (result, await group.next() ?? nil)
        }
        if let abandonment { throw abandonment }
        if case .failure = result { abandon() }
        return try result.get()
    }

    private static func result<Value>(
        of work: () async throws(TrackerError) -> Value
    ) async -> Result<Value, TrackerError> {
        do throws(TrackerError) { return .success(try await work()) } catch { return .failure(error) }
    }
}
