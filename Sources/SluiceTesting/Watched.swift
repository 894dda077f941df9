import Synchronization

/// A value that a test can wait for until it fulfils a condition, without polling or sleeping.
package final class Watched<Value: Sendable>: Sendable {
    private struct Waiter: Sendable {
        let number: UInt64
        let condition: @Sendable (Value) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State: Sendable {
        var value: Value
        var waiters: [Waiter] = []
        var nextNumber: UInt64 = 0
    }

    private let state: Mutex<State>

    package init(_ value: Value) {
        state = Mutex(State(value: value))
    }

    /// Reads the value.
    package var value: Value { state.withLock { $0.value } }

    /// Changes the value, and wakes the tasks whose condition is now true.
    package func update<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
        let (result, woken) = state.withLock { state in
            let result = body(&state.value)
            let value = state.value
            let woken = state.waiters.filter { $0.condition(value) }
            if !woken.isEmpty { state.waiters.removeAll { $0.condition(value) } }
            return (result, woken)
        }
        for waiter in woken { waiter.continuation.resume() }
        return result
    }

    /// Waits until the value fulfils a condition, or the task is cancelled.
    package func wait(until condition: @escaping @Sendable (Value) -> Bool) async {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if condition(state.value) || Task.isCancelled { return true }
                    state.waiters.append(Waiter(number: number, condition: condition, continuation: continuation))
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume()
        }
    }
}
