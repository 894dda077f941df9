import EventModel
import JSONTape
package import TrackerKit

/// A program's answer to a delivery: `{"delivery":7}`, with what it refuses and what is to be retried.
///
/// ```json
/// {"delivery":7,"refused":[{"event":3,"reason":"…"}],"retry":{"from":10,"reason":"…","afterSeconds":5}}
/// ```
///
/// Events are positions in the delivery, from 0. `retry` has `from`, `events`, a list of positions, or neither, for all events that are
/// not refused. `null` is the same as no member; an unknown member makes the answer unusable, because events that it was about would count
/// as delivered.
package struct LinesAnswer {
    /// The maximum size of the answer to so many events, in bytes: 1 MiB, and room for the refusal of each.
    static func maximumBytes(of count: Int) -> Int { (1 << 20) + count * 600 }

    /// The maximum size of a reason in bytes; the rest of a longer one is dropped.
    private static let maximumReason = 512
    /// The longest time that a program can ask to be left alone.
    private static let maximumPause = Duration.seconds(300)

    package let outcome: DeliveryOutcome
    /// Why the program asks for a retry, although it may be of no event.
    package let retryReason: TrackerError?
    /// How long the program wants no further delivery.
    package let pause: Duration

    /// Reads the answer to a delivery of so many events.
    ///
    /// - Throws: `failed` if it is no such answer, or one to another delivery.
    package init(_ line: [UInt8], to delivery: Int, of count: Int) throws(TrackerError) {
        guard let value = JSONValue(json: line) else { throw ExecErrors.badAnswer("it is not JSON") }
        guard case .object(let members) = value else { throw ExecErrors.badAnswer("it is not an object of JSON") }
        let answer = try Self.known(members, ["delivery", "refused", "retry"])
        guard case .integer(let number) = answer["delivery"], number == Int64(delivery) else {
            throw ExecErrors.badAnswer("it does not name the delivery that it answers")
        }
        let refusals = try Self.refusals(answer["refused"] ?? .array([]), of: count)
        guard let asked = answer["retry"] else {
            (outcome, retryReason, pause) = (.refused(refusals), nil, .zero)
            return
        }
        guard case .object(let members) = asked, case .string(let reason) = members["reason"] else {
            throw ExecErrors.badAnswer("its 'retry' is not an object with a 'reason'")
        }
        let retry = try Self.known(members, ["from", "events", "reason", "afterSeconds"])
        let positions = try Self.positions(retry, of: count, refused: Set(refusals.map(\.position)))
        let error = ExecErrors.failed("The program asks for a retry: \(Self.limited(reason))")
        outcome = DeliveryOutcome(
            refusals: refusals,
            retry: positions.isEmpty ? nil : DeliveryOutcome.Retry(positions: positions, reason: error)
        )
        retryReason = error
        pause = try Self.pause(retry["afterSeconds"] ?? .integer(0))
    }

    /// The members of an object without those that are `null`.
    ///
    /// Throws `failed` if there is a member of another name.
    private static func known(_ members: [String: JSONValue], _ names: Set<String>) throws(TrackerError)
        -> [String: JSONValue]
    {
        guard names.isSuperset(of: members.keys) else { throw ExecErrors.badAnswer("it has an unknown member") }
        return members.filter { $0.value != .null }
    }

    private static func refusals(_ value: JSONValue, of count: Int) throws(TrackerError) -> [DeliveryOutcome.Refusal] {
        guard case .array(let elements) = value else { throw ExecErrors.badAnswer("its 'refused' is not a list") }
        var known: Set<Int> = []
        var refusals: [DeliveryOutcome.Refusal] = []
        for element in elements {
            guard case .object(let refusal) = element, case .string(let reason) = refusal["reason"] else {
                throw ExecErrors.badAnswer("its 'refused' has an element without an 'event' and a 'reason'")
            }
            let position = try position(refusal["event"] ?? .null, in: 0..<count)
            guard known.insert(position).inserted else {
                throw ExecErrors.badAnswer("it names an event twice")
            }
            refusals.append(.init(position: position, reason: limited(reason)))
        }
        return refusals.sorted { $0.position < $1.position }
    }

    /// The positions to retry, ascending.
    private static func positions(
        _ retry: [String: JSONValue],
        of count: Int,
        refused: Set<Int>
    ) throws(TrackerError) -> [Int] {
        guard let events = retry["events"] else {
            // All events may have been delivered, so a retry from the end is none.
            let first = try position(retry["from"] ?? .integer(0), in: 0..<count + 1)
            return (first..<count).filter { !refused.contains($0) }
        }
        guard case .array(let elements) = events else { throw ExecErrors.badAnswer("its 'events' is not a list") }
        guard retry["from"] == nil else { throw ExecErrors.badAnswer("its 'retry' has both 'from' and 'events'") }
        var positions: Set<Int> = []
        for element in elements {
            let position = try position(element, in: 0..<count)
            guard !refused.contains(position), positions.insert(position).inserted else {
                throw ExecErrors.badAnswer("it names an event twice")
            }
        }
        return positions.sorted()
    }

    private static func position(_ value: JSONValue, in range: Range<Int>) throws(TrackerError) -> Int {
        guard case .integer(let number) = value, let position = Int(exactly: number), range.contains(position) else {
            throw ExecErrors.badAnswer("it names an event that the delivery does not have")
        }
        return position
    }

    private static func pause(_ value: JSONValue) throws(TrackerError) -> Duration {
        switch value {
        case .integer(let seconds) where seconds >= 0: min(.seconds(min(seconds, 1000)), maximumPause)
        case .number(let seconds) where seconds >= 0: min(.seconds(min(seconds, 1000)), maximumPause)
        default: throw ExecErrors.badAnswer("its 'afterSeconds' is not a number of seconds")
        }
    }

    /// The beginning of a reason, as it may be printed.
    private static func limited(_ reason: String) -> String {
        var escaped: [UInt8] = []
        TerminalEscapes.append(reason.utf8.prefix(maximumReason), to: &escaped)
        return String(decoding: escaped, as: UTF8.self)
    }
}
