import EventModel
import EventSchema
import EventValidation
import Synchronization

/// Shows accepted and rejected events as they pass, to those who watch.
///
/// While nobody watches, it costs one atomic load a batch. Someone who watches gets every event that they ask for, up to
/// `maximumEventsPerSecond`, and learns how many others there were.
final class EventFeed: Sendable {
    /// How many events a second a watcher gets.
    static let maximumEventsPerSecond = 200
    /// The maximum number of watchers.
    static let maximumWatchers = 16
    private static let bufferedItems = 400

    private struct Watcher {
        let filter: Pipeline.WatchFilter
        let continuation: AsyncStream<Pipeline.WatchedItem>.Continuation
        var second: Int64 = .min
        var count = 0
        var missed = 0

        /// Shows an event, or counts it as missed.
        mutating func show(second now: Int64, _ event: () -> [UInt8]) {
            if now != second { (second, count) = (now, 0) }
            guard count < EventFeed.maximumEventsPerSecond else { return missed += 1 }
            if missed > 0 {
                guard case .enqueued = continuation.yield(.missed(missed)) else { return missed += 1 }
                missed = 0
            }
            count += 1
            if case .dropped = continuation.yield(.event(event())) { missed += 1 }
        }
    }

    private struct State {
        var watchers: [UInt64: Watcher] = [:]
        var next: UInt64 = 0
    }

    private let clock: RelativeClock
    /// The catalog without what only some trackers may see.
    private let visible: EventCatalog
    /// Whether rejected events are shown as they were sent: there is nothing that only some trackers may see.
    private let showsOriginals: Bool
    private let isWatched = Atomic(false)
    private let state = Mutex(State())

    init(catalog: EventCatalog, clock: RelativeClock) {
        self.clock = clock
        // No tracker has an empty name.
        visible = catalog.visible(to: "")
        showsOriginals = visible === catalog
    }

    /// Begins to watch; `nil` if there are too many watchers.
    func watch(_ filter: Pipeline.WatchFilter) -> Pipeline.Watch? {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Pipeline.WatchedItem.self,
            bufferingPolicy: .bufferingOldest(Self.bufferedItems)
        )
        let number: UInt64? = state.withLock { state in
            guard state.watchers.count < Self.maximumWatchers else { return nil }
            state.next += 1
            state.watchers[state.next] = Watcher(filter: filter, continuation: continuation)
            isWatched.store(true, ordering: .relaxed)
            return state.next
        }
        guard let number else { return nil }
        continuation.onTermination = { [weak self] _ in self?.end(number) }
        return Pipeline.Watch(items: stream, continuation: continuation)
    }

    private func end(_ number: UInt64) {
        state.withLock { state in
            state.watchers[number] = nil
            isWatched.store(!state.watchers.isEmpty, ordering: .relaxed)
        }
    }

    private var second: Int64 { clock.now().components.seconds }

    /// Shows a batch that was accepted.
    func accepted(_ batch: EventBatch) {
        guard isWatched.load(ordering: .relaxed), let batch = shown(batch) else { return }
        let (catalog, second) = (batch.catalog, second)
        state.withLock { state in
            for number in state.watchers.keys {
                guard let filter = state.watchers[number]?.filter, filter.verdict != .rejected else { continue }
                let definitions = catalog.definitions.indices.map { filter.wants(definition: $0, of: catalog) }
                for index in batch.entries.indices {
                    let definition = Int(batch.entries[index].definitionIndex)
                    guard definitions[definition], filter.wants(line: batch.line(at: index)) else { continue }
                    state.watchers[number]?.show(second: second) {
                        Self.text(of: batch.line(at: index), trackers: catalog.definitions[definition].trackers)
                    }
                }
            }
        }
    }

    /// The batch without what only some trackers may see; `nil` if that cannot be removed.
    private func shown(_ batch: EventBatch) -> EventBatch? {
        guard visible !== batch.catalog else { return batch }
        return try? EventValidator(rereading: visible).check(batch.lines, as: .lines).batch
    }

    /// Shows events that were rejected.
    func rejected(_ rejections: [Rejection], sender: String) {
        guard isWatched.load(ordering: .relaxed) else { return }
        let (second, showsOriginals) = (second, showsOriginals)
        state.withLock { state in
            for number in state.watchers.keys {
                guard let filter = state.watchers[number]?.filter, filter.verdict != .accepted, filter.user == nil,
                    filter.tracker == nil
                else { continue }
                for rejection in rejections where filter.event == nil || filter.event == rejection.name {
                    state.watchers[number]?.show(second: second) {
                        Self.text(of: rejection, sender: sender, showsOriginal: showsOriginals)
                    }
                }
            }
        }
    }

    private static func text(of line: UnsafeRawBufferPointer, trackers: [String]) -> [UInt8] {
        var text = Array(#"{"verdict":"accepted","trackers":["#.utf8)
        for (position, tracker) in trackers.enumerated() {
            if position > 0 { text.append(UInt8(ascii: ",")) }
            JSONString.append(tracker, to: &text)
        }
        text += Array(#"],"event":"#.utf8) + line + [UInt8(ascii: "}")]
        return text
    }

    /// How much of a rejected event is shown, in bytes.
    private static let maximumOriginalBytes = 4 << 10

    private static func text(of rejection: Rejection, sender: String, showsOriginal: Bool) -> [UInt8] {
        var text = Array(#"{"verdict":"rejected","sender":"#.utf8)
        JSONString.append(sender, to: &text)
        text += Array(#","name":"#.utf8)
        if let name = rejection.name { JSONString.append(name, to: &text) } else { text += Array("null".utf8) }
        text += Array(#","errors":"#.utf8)
        rejection.violations.appendJSON(to: &text)
        guard showsOriginal else { return text + [UInt8(ascii: "}")] }
        text += Array(#","original":"#.utf8)
        // Cut bytes and invalid ones become replacement characters.
        JSONString.append(String(decoding: rejection.original.prefix(maximumOriginalBytes), as: UTF8.self), to: &text)
        text.append(UInt8(ascii: "}"))
        return text
    }
}

extension Pipeline {
    /// Which events somebody wants to see; `nil` for all.
    public struct WatchFilter: Sendable, Hashable {
        /// What became of an event.
        public enum Verdict: String, Sendable, Hashable {
            case accepted, rejected
        }

        /// The event's name.
        public var event: String?
        /// A tracker that the plan names for the event; then no rejected events.
        public var tracker: String?
        /// What became of it.
        public var verdict: Verdict?
        /// The `userId` of the event; then no rejected events.
        public var user: String?

        /// Asks for all events that have all of these.
        public init(event: String? = nil, tracker: String? = nil, verdict: Verdict? = nil, user: String? = nil) {
            self.event = event
            self.tracker = tracker
            self.verdict = verdict
            self.user = user
        }
    }

    /// What somebody who watches gets.
    public enum WatchedItem: Sendable, Hashable {
        /// An event, as one line of JSON: `verdict`, and for an accepted event `trackers` and `event`, for a rejected one `sender`,
        /// `name`, `errors` and `original`, which is missing if the plan has values that only some trackers may see.
        case event([UInt8])
        /// This many events were not shown, because there were too many; 0 after `Watch.wake`.
        case missed(Int)
    }

    /// The events that somebody watches; the watch ends with the iteration.
    public struct Watch: Sendable {
        /// The events from now on, as they pass.
        public let items: AsyncStream<WatchedItem>
        let continuation: AsyncStream<WatchedItem>.Continuation

        /// Adds `.missed(0)` to the items, for somebody who has to act while no events pass; returns false after the end.
        public func wake() -> Bool {
            if case .terminated = continuation.yield(.missed(0)) { false } else { true }
        }
    }

    /// The events that are accepted and rejected from now on; `nil` if 16 others watch already.
    ///
    /// Every event is shown up to 200 a second, and of more only their number. Values that only some trackers may see are left out.
    public func watch(_ filter: WatchFilter = WatchFilter()) -> Watch? { feed.watch(filter) }
}

extension Pipeline.WatchFilter {
    fileprivate func wants(definition index: Int, of catalog: EventCatalog) -> Bool {
        let definition = catalog.definitions[index]
        if let event, event != definition.name { return false }
        guard let tracker = tracker?.lowercased() else { return true }
        return definition.trackers.contains { $0.lowercased() == tracker }
    }

    /// Whether an event's line has the `userId`.
    fileprivate func wants(line: UnsafeRawBufferPointer) -> Bool {
        guard let user else { return true }
        let field = Array((#""userId":"# + JSONString.quoted(user)).utf8)
        guard let place = line.firstIndex(ofBytes: field) else { return false }
        // A quotation mark within a string is escaped, so this is a key: of the envelope, unless an object has begun before.
        return !line[..<place].dropFirst().contains(UInt8(ascii: "{"))
    }
}
