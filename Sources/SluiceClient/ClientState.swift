import EventModel

/// What the lock of a client guards: the queue, and the tasks that are suspended until it changes.
struct ClientState: ~Copyable {
    /// Someone who waits until all batches up to a number are settled.
    struct Flush {
        let lastBatch: UInt64
        let continuation: CheckedContinuation<Bool, Never>
    }

    var queue: QueueFolder
    var sending: SendState
    var ids = EventIDGenerator()
    var isRunning = false
    /// The suspended `run`; `nil` if it does not wait.
    var parked: CheckedContinuation<Void, Never>?
    /// Whether `run` has to look again before it waits.
    var isWoken = false
    var flushes: [UInt64: Flush] = [:]
    var nextFlush: UInt64 = 0

    init(queue: QueueFolder, sending: SendState) {
        self.queue = queue
        self.sending = sending
    }

    /// Lets `run` look again; the caller resumes the continuation after the lock is released.
    mutating func wake() -> CheckedContinuation<Void, Never>? {
        guard let parked = parked.take() else {
            isWoken = true
            return nil
        }
        return parked
    }

    /// Removes the flushes whose batches are all settled.
    mutating func finishedFlushes() -> [CheckedContinuation<Bool, Never>] {
        let oldest = queue.batches.first?.number ?? .max
        let finished = flushes.filter { $0.value.lastBatch < oldest }
        for number in finished.keys { flushes[number] = nil }
        return finished.values.map(\.continuation)
    }
}
