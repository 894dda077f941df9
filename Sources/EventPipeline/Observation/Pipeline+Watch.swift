import EventModel
import EventSchema
import EventValidation
import Synchronization

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

        var wantsRejected: Bool { verdict != .accepted && user == nil && tracker == nil }
    }

    /// What somebody who watches gets.
    public enum WatchedItem: Sendable, Hashable {
        /// An event, as one line of JSON: `verdict`, and for an accepted event `trackers` and `event`, for a rejected one `sender`,
        /// `name`, `errors` and `original`, which is missing if the plan has values that only some trackers may see.
        case event([UInt8])
        /// This many events were skipped; 0 after `Watch.wake` if there were none.
        case missed(Int)
    }

    /// Shows the events that a pipeline accepts and rejects, until it is released or `end` is called.
    ///
    /// It shows at most 200 events a second, and the number of events that it skipped. An event of more than 64 KiB is skipped, and so
    /// is what comes while 1 MiB waits to be fetched.
    public final class Watch: Sendable {
        /// How many events a second are shown.
        public static let maximumEventsPerSecond = 200
        /// The maximum size of an event that is shown, in bytes.
        public static let maximumEventBytes = 64 << 10
        /// The maximum size of the events that wait to be fetched, in bytes.
        public static let maximumBufferedBytes = 1 << 20
        /// How much of a rejected event is shown, in bytes.
        static let maximumOriginalBytes = 4 << 10

        private let queue: WatchQueue
        private let feed: EventFeed
        /// The catalog of the last event, and the same without what only some trackers may see.
        private let catalogs = Mutex<(all: EventCatalog, visible: EventCatalog)?>(nil)

        init(_ queue: WatchQueue, of feed: EventFeed) {
            self.queue = queue
            self.feed = feed
        }

        deinit {
            end()
        }

        /// The next event, or the number of events that were skipped since it was last returned; `nil` after `end`, or if the task is cancelled.
        public func next() async -> WatchedItem? {
            switch await queue.next() {
            case nil: return nil
            case .missed(let count): return .missed(count)
            case .item(.accepted(let line, let catalog, let definition)):
                guard let line = shown(line, of: catalog) else { return .missed(1) }
                return .event(Self.text(of: line, trackers: catalog.trackers(ofDefinition: definition)))
            case .item(.rejected(let rejection, let sender, let showsOriginal)):
                return .event(Self.text(of: rejection, sender: sender, showsOriginal: showsOriginal))
            }
        }

        /// Lets `next` return `missed`, for somebody who has to act while no events come.
        public func wake() { queue.wake() }

        /// Ends the watch; `next` returns `nil`.
        public func end() { feed.end(queue) }

        /// The line without what only some trackers may see; `nil` if that cannot be removed.
        private func shown(_ line: [UInt8], of catalog: EventCatalog) -> [UInt8]? {
            let visible = visible(in: catalog)
            guard visible !== catalog else { return line }
            let checked = line.withUnsafeBytes { try? EventValidator(rereading: visible).check(lines: $0) }
            guard let batch = checked?.batch, batch.count == 1 else { return nil }
            return Array(batch.line(at: 0))
        }

        private func visible(in catalog: EventCatalog) -> EventCatalog {
            catalogs.withLock { catalogs in
                if let catalogs, catalogs.all === catalog { return catalogs.visible }
                let visible = catalog.visibleToAll
                catalogs = (catalog, visible)
                return visible
            }
        }

        private static func text(of line: [UInt8], trackers: [String]) -> [UInt8] {
            var text = Array(#"{"verdict":"accepted","trackers":["#.utf8)
            for (position, tracker) in trackers.enumerated() {
                if position > 0 { text.append(UInt8(ascii: ",")) }
                JSONString.append(tracker, to: &text)
            }
            return text + Array(#"],"event":"#.utf8) + line + [UInt8(ascii: "}")]
        }

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
            JSONString.append(String(decoding: rejection.original, as: UTF8.self), to: &text)
            return text + [UInt8(ascii: "}")]
        }
    }

    /// Shows the events that are accepted and rejected from now on; `nil` if 16 others watch already.
    ///
    /// Values that only some trackers may see are left out.
    public func watch(_ filter: WatchFilter = WatchFilter()) -> Watch? { feed.watch(filter) }
}
