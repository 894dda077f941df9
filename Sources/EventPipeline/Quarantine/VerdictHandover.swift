import DequeModule
import EventModel

/// The verdicts that event loops have handed to the thread that writes them, and that are not written yet.
///
/// A value, changed under a lock. It is bounded in bytes, those that are being written included: what finds no room is not
/// taken, because an event loop must not wait for a disk.
struct VerdictHandover: Sendable {
    /// The rejected events of one request.
    struct Entry: Sendable {
        let records: VerdictRecords
        let time: Timestamp
    }

    /// What became of an entry.
    enum Admission: Sendable, Hashable {
        /// It waits, and is written by whoever writes already.
        case waits
        /// It waits, and the caller has to start the writing.
        case startsWriting
        /// There was no room.
        case full
    }

    /// A task that waits until everything handed over before it is written.
    private struct Drain {
        let number: UInt64
        /// How many entries must be done with.
        let target: UInt64
        let completion: @Sendable () -> Void
    }

    /// The most bytes of entries that are written as one frame, if not a single one has more.
    private static let maximumFrameBytes = 1 << 20

    private let capacityInBytes: Int
    private var waiting: Deque<Entry> = []
    private var drains: [Drain] = []
    private var isWriting = false
    /// How many entries were taken, and how many of them are done with.
    private var taken: UInt64 = 0
    private var done: UInt64 = 0
    /// What is not done with, in bytes and in events.
    private var bytes = 0
    private(set) var events = 0

    init(capacityInBytes: Int) {
        self.capacityInBytes = capacityInBytes
    }

    /// Takes an entry, where there is room.
    mutating func add(_ entry: Entry) -> Admission {
        guard entry.records.bytes.count <= capacityInBytes - bytes else { return .full }
        waiting.append(entry)
        taken += 1
        bytes += entry.records.bytes.count
        events += entry.records.count
        guard !isWriting else { return .waits }
        isWriting = true
        return .startsWriting
    }

    /// What is to be written next; `nil` where nothing is left, and then the writing ends.
    mutating func next() -> [Entry]? {
        guard let first = waiting.popFirst() else {
            isWriting = false
            return nil
        }
        var entries = [first]
        var bytes = first.records.bytes.count
        while let next = waiting.first, bytes + next.records.bytes.count <= Self.maximumFrameBytes {
            bytes += next.records.bytes.count
            entries.append(next)
            waiting.removeFirst()
        }
        return entries
    }

    /// Notes that entries are done with, written or not; returns whom to tell.
    mutating func finish(_ entries: [Entry]) -> [@Sendable () -> Void] {
        done += UInt64(entries.count)
        for entry in entries {
            bytes -= entry.records.bytes.count
            events -= entry.records.count
        }
        return endDrains { [done] in $0.target <= done }
    }

    /// Calls `completion` back once everything that was taken so far is done with; returns whom to tell at once.
    mutating func drain(number: UInt64, _ completion: @escaping @Sendable () -> Void) -> [@Sendable () -> Void] {
        drains.append(Drain(number: number, target: taken, completion: completion))
        return endDrains { [done] in $0.target <= done }
    }

    /// Ends a drain early; returns whom to tell.
    mutating func abandonDrain(number: UInt64) -> [@Sendable () -> Void] {
        endDrains { $0.number == number }
    }

    private mutating func endDrains(where isOver: (Drain) -> Bool) -> [@Sendable () -> Void] {
        let over = drains.filter(isOver)
        drains.removeAll { drain in over.contains { $0.number == drain.number } }
        return over.map(\.completion)
    }
}
