import DequeModule
import EventModel
import EventSchema
import EventValidation
import Synchronization

/// Shows accepted and rejected events to those who watch.
///
/// While nobody watches, it costs one atomic load a batch. While somebody does, it copies the events that they want, up to
/// `Watch.maximumEventsPerSecond`; everything else happens when they ask for the next one.
final class EventFeed: Sendable {
    /// The maximum number of watchers.
    static let maximumWatchers = 16

    private let clock: RelativeClock
    private let isWatched = Atomic(false)
    private let watchers = Mutex<[ObjectIdentifier: WatchQueue]>([:])

    init(clock: RelativeClock) {
        self.clock = clock
    }

    /// Begins to watch; `nil` if there are too many watchers.
    func watch(_ filter: Pipeline.WatchFilter) -> Pipeline.Watch? {
        let queue = WatchQueue(filter)
        let isAdmitted = watchers.withLock { watchers in
            guard watchers.count < Self.maximumWatchers else { return false }
            watchers[ObjectIdentifier(queue)] = queue
            isWatched.store(true, ordering: .relaxed)
            return true
        }
        return isAdmitted ? Pipeline.Watch(queue, of: self) : nil
    }

    /// Ends a watch.
    func end(_ queue: WatchQueue) {
        watchers.withLock { watchers in
            watchers[ObjectIdentifier(queue)] = nil
            isWatched.store(!watchers.isEmpty, ordering: .relaxed)
        }
        queue.end()
    }

    private var queues: [WatchQueue] { watchers.withLock { Array($0.values) } }
    private var second: Int64 { clock.now().components.seconds }

    /// Shows a batch that was accepted.
    func accepted(_ batch: EventBatch) {
        guard isWatched.load(ordering: .relaxed) else { return }
        let (catalog, second) = (batch.catalog, second)
        for queue in queues where queue.filter.verdict != .rejected {
            let isWanted = catalog.definitions.indices.map { queue.wants(definition: $0, of: catalog) }
            queue.add(second: second) { queue in
                for (index, entry) in batch.entries.enumerated() where isWanted[Int(entry.definitionIndex)] {
                    let line = batch.line(at: index)
                    if queue.wants(line) { queue.add(line, of: catalog, definition: Int(entry.definitionIndex)) }
                }
            }
        }
    }

    /// Shows events that were rejected; `unexplained` others were rejected for reasons that nobody has written down.
    ///
    /// `showsOriginals` says whether they may be shown as they were sent.
    func rejected(_ rejections: [Rejection], unexplained: Int, sender: String, showsOriginals: Bool) {
        guard isWatched.load(ordering: .relaxed) else { return }
        let second = second
        for queue in queues where queue.filter.wantsRejected {
            let event = queue.filter.event
            queue.add(second: second) { queue in
                for rejection in rejections where event == nil || event == rejection.name {
                    queue.add(rejection, sender: sender, showsOriginal: showsOriginals)
                }
                if event == nil { queue.miss(unexplained) }
            }
        }
    }
}

/// The events that one watcher has not fetched yet.
final class WatchQueue: Sendable {
    /// An event that was copied and is not written as JSON yet.
    enum Item {
        case accepted([UInt8], EventCatalog, definition: Int)
        case rejected(Rejection, sender: String, showsOriginal: Bool)
    }

    /// What the lock guards.
    struct State {
        fileprivate var items: Deque<(item: Item, bytes: Int)> = []
        fileprivate var bytes = 0
        fileprivate var missed = 0
        fileprivate var isWoken = false
        fileprivate var isEnded = false
        fileprivate var parked: CheckedContinuation<Void, Never>?
        fileprivate let user: [UInt8]?
        private var second: Int64 = .min
        private var count = 0

        init(user: [UInt8]?) {
            self.user = user
        }

        fileprivate mutating func begin(second now: Int64) {
            if now != second { (second, count) = (now, 0) }
        }

        /// Whether an accepted event is of the user whom the watcher wants to see.
        func wants(_ line: UnsafeRawBufferPointer) -> Bool {
            guard let user else { return true }
            // The envelope's fields come first, and are short.
            let start = UnsafeRawBufferPointer(rebasing: line.prefix(1024 + user.count))
            guard let place = start.firstIndex(ofBytes: user) else { return false }
            // A quotation mark within a string is escaped, so this is a key: of the envelope, unless an object has begun before.
            return !start[1..<place].contains(UInt8(ascii: "{"))
        }

        mutating func add(_ line: UnsafeRawBufferPointer, of catalog: EventCatalog, definition: Int) {
            guard hasRoom(for: line.count) else { return missed += 1 }
            append(.accepted(Array(line), catalog, definition: definition), line.count)
        }

        mutating func add(_ rejection: Rejection, sender: String, showsOriginal: Bool) {
            let shown = Rejection(
                index: rejection.index,
                id: rejection.id,
                name: rejection.name,
                violations: rejection.violations,
                original: showsOriginal ? Array(rejection.original.prefix(Pipeline.Watch.maximumOriginalBytes)) : []
            )
            guard hasRoom(for: shown.approximateBytes) else { return missed += 1 }
            append(.rejected(shown, sender: sender, showsOriginal: showsOriginal), shown.approximateBytes)
        }

        /// Counts events that are not shown.
        mutating func miss(_ count: Int) { missed += count }

        private func hasRoom(for bytes: Int) -> Bool {
            !isEnded && count < Pipeline.Watch.maximumEventsPerSecond && bytes <= Pipeline.Watch.maximumEventBytes
                && self.bytes + bytes <= Pipeline.Watch.maximumBufferedBytes
        }

        private mutating func append(_ item: Item, _ bytes: Int) {
            count += 1
            self.bytes += bytes
            items.append((item, bytes))
        }
    }

    /// What the watcher gets next.
    enum Next {
        case item(Item)
        case missed(Int)
    }

    let filter: Pipeline.WatchFilter
    private let state: Mutex<State>

    init(_ filter: Pipeline.WatchFilter) {
        self.filter = filter
        state = Mutex(State(user: filter.user.map { Array((#""userId":"# + JSONString.quoted($0)).utf8) }))
    }

    /// Whether accepted events of a definition are wanted.
    func wants(definition: Int, of catalog: EventCatalog) -> Bool {
        if let event = filter.event, event != catalog.definitions[definition].name { return false }
        guard let tracker = filter.tracker else { return true }
        return catalog.trackerMasks[definition] & catalog.mask(ofTracker: tracker) != 0
    }

    /// Adds events in this second.
    func add(second: Int64, _ body: (inout State) -> Void) {
        change { state in
            state.begin(second: second)
            body(&state)
            return !state.items.isEmpty
        }
    }

    /// Lets `next` return, with the number of missed events.
    func wake() {
        change { state in
            state.isWoken = true
            return true
        }
    }

    func end() {
        change { state in
            (state.isEnded, state.items, state.bytes) = (true, [], 0)
            return true
        }
    }

    /// Changes the state, and resumes the watcher if `body` returns true.
    private func change(_ body: (inout State) -> Bool) {
        let parked = state.withLock { state in body(&state) ? state.parked.take() : nil }
        parked?.resume()
    }

    /// The next item, or the number of events that were missed since it was last returned; `nil` after the end or if the task is cancelled.
    func next() async -> Next? {
        while !Task.isCancelled {
            let (next, isEnded): (Next?, Bool) = state.withLock { state in
                if state.isEnded { return (nil, true) }
                let isWoken = state.isWoken
                if state.missed > 0, isWoken || !state.items.isEmpty {
                    defer { (state.missed, state.isWoken) = (0, false) }
                    return (.missed(state.missed), false)
                }
                if let first = state.items.popFirst() {
                    state.bytes -= first.bytes
                    return (.item(first.item), false)
                }
                state.isWoken = false
                return (isWoken ? .missed(0) : nil, false)
            }
            if next != nil || isEnded { return next }
            await wait()
        }
        return nil
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let hasWork = state.withLock { state in
                    if !state.items.isEmpty || state.isWoken || state.isEnded || Task.isCancelled { return true }
                    state.parked = continuation
                    return false
                }
                if hasWork { continuation.resume() }
            }
        } onCancel: {
            change { _ in true }
        }
    }
}
