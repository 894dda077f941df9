import EventModel
import EventValidation
import Foundation
import Logging
import SluiceSocket
import SluiceTesting
import TestSupport
import TrackerKit

/// A plan and events for receivers.
enum SocketEvents {
    static let catalog = EventCatalog.scripted(["Song Played": ["socket"]])

    /// A delivery of events whose ids are the numbers of a range.
    static func delivery(_ numbers: Range<Int>) -> Delivery {
        let events = numbers.map { ScriptedEvent("Song Played", number: $0) }
        return Delivery([EventSlice(EventBatch.scripted(catalog: catalog, events: events))])
    }

    /// The ids of the events in lines; what is left of a line when a connection ended is no event.
    static func ids(in lines: [String]) -> [EventID] {
        lines.compactMap { line in
            let event = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            return (event?["id"] as? String).flatMap { EventID($0) }
        }
    }
}

extension SocketTracker {
    static let silent = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    /// A tracker for a receiver of a test.
    static func testing(
        _ url: String,
        clock: some Clock<Duration> = ContinuousClock(),
        logger: Logger = silent,
        _ change: (inout SocketConfiguration) -> Void = { _ in }
    ) -> SocketTracker {
        var configuration = SocketConfiguration(url: url)
        change(&configuration)
        return SocketTracker(configuration, logger: logger, clock: clock)
    }
}
