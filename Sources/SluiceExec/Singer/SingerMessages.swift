import EventModel
import EventValidation
package import TrackerKit

/// The messages of a delivery for a Singer target: SCHEMA before the first event of each stream, a RECORD for each event, and at the end
/// the STATE.
///
/// They are written in pieces, because a delivery may be large.
package struct SingerMessages {
    /// The stream of a definition, and whether it is announced as it is.
    private typealias Stream = (stream: SingerStream, isAnnounced: Bool)

    /// About the room in the pipe.
    private static let pieceBytes = 1 << 20
    /// Why an event is refused that has a decimal with too many digits for a number.
    private static let refusal = """
        A decimal has more than \(DecimalPlaces.maximumWhole) digits before its point or \(DecimalPlaces.maximumFraction) after it, \
        too many for a number; use 'strings' for exec.singer.decimals.
        """

    private let decimals: SingerDecimals
    private let state: SingerState
    private var events: Delivery.Iterator
    private var position = 0
    private var hasEnded = false
    /// The plan of the last event; a delivery may have batches of two plans.
    private var catalog: EventCatalog?
    /// The streams of that plan, by the index of their definition; `nil` before the first event of each.
    private var streams: [Stream?] = []
    /// The last announcement of each stream, by its name.
    private var announced: [String: [UInt8]] = [:]
    /// The events that were left out of the pieces so far.
    package private(set) var refusals: [DeliveryOutcome.Refusal] = []

    package init(_ delivery: Delivery, decimals: SingerDecimals, state: SingerState) {
        self.decimals = decimals
        self.state = state
        events = delivery.makeIterator()
    }

    /// The next messages; `nil` after the last ones.
    package mutating func next() -> [UInt8]? {
        if hasEnded { return nil }
        var piece: [UInt8] = []
        while piece.count < Self.pieceBytes {
            guard let event = events.next() else {
                piece.append(contentsOf: state.message)
                hasEnded = true
                break
            }
            append(event, to: &piece)
            position += 1
        }
        return piece
    }

    private mutating func append(_ event: TrackedEvent, to piece: inout [UInt8]) {
        let definition = Int(event.batch.entries[event.index].definitionIndex)
        let (stream, isAnnounced) = stream(of: event, definition)
        let line = event.batch.line(at: event.index)
        let start = piece.count
        if !isAnnounced { piece.append(contentsOf: stream.announcement) }
        piece.append(contentsOf: stream.recordHead)
        if let decimals = stream.decimals {
            guard decimals.append(line, to: &piece) else {
                piece.removeSubrange(start...)
                refusals.append(.init(position: position, reason: Self.refusal))
                return
            }
        } else {
            piece.append(contentsOf: line)
        }
        if ServerTime.isMarked(line) {
            // The destination's table has no column for it.
            piece.removeLast(ServerTime.member.utf8CodeUnitCount + 1)
            piece.append(UInt8(ascii: "}"))
        }
        if !isAnnounced {
            announced[stream.name] = stream.announcement
            streams[definition]?.isAnnounced = true
        }
        // The time of arrival, so that a repetition is the same.
        if let envelope = CanonicalLine(line) {
            piece.append(contentsOf: #","time_extracted":""#.utf8)
            piece.append(contentsOf: envelope.rawText(of: envelope.receivedAt))
            piece.append(UInt8(ascii: "\""))
        }
        piece.append(contentsOf: "}\n".utf8)
    }

    /// The stream of an event, whose definition has this index.
    private mutating func stream(of event: TrackedEvent, _ definition: Int) -> Stream {
        if catalog !== event.batch.catalog {
            catalog = event.batch.catalog
            streams = Array(repeating: nil, count: event.batch.catalog.definitions.count)
        }
        if let known = streams[definition] { return known }
        let stream = SingerStream(event.definition, decimals: decimals)
        let known = (stream, announced[stream.name] == stream.announcement)
        streams[definition] = known
        return known
    }
}
