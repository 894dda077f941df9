import EventModel
import TrackerKit

extension RelativeClock {
    /// Runs work that does not end at cancellation by itself, such as waiting for an event loop.
    ///
    /// After the limit, and at cancellation, `abandon` is called, with which the work has to end soon.
    ///
    /// - Throws: What the work throws; `timeout` after the limit; `cancelled`.
    func limit<Value: Sendable>(
        _ limit: Duration,
        else timeout: TrackerError,
        abandon: @escaping @Sendable () -> Void,
        _ work: @escaping @Sendable () async throws(TrackerError) -> Value
    ) async throws(TrackerError) -> Value {
        let deadline = now() + limit
        let result = await withTaskGroup(of: Result<Value, TrackerError>.self) { group in
            let isDone = Interrupt()
            group.addTask {
                do throws(TrackerError) {
                    let value = try await work()
                    isDone.raise()
                    return .success(value)
                } catch {
                    isDone.raise()
                    return .failure(error)
                }
            }
            group.addTask {
                let isOver = (try? await sleepUntil(deadline)) != nil
                if !isDone.isRaised { abandon() }
                return .failure(isOver ? timeout : .cancelled)
            }
            let first = await group.next() ?? .failure(.cancelled)
            group.cancelAll()
            return first
        }
        return try result.get()
    }
}
