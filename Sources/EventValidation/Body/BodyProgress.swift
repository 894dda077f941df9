import EventModel
import JSONTape

/// What happens to a body that has more events, or more rejected ones, than it may.
package enum BodyExcess: Sendable, Hashable {
    /// It is refused as a whole.
    case refusesBody
    /// Further rejections are only counted, and of the events beyond the limit only one, which is rejected as `too-large`.
    case isCounted
}

/// The state of the check of one body between turns: its position, and the results so far.
package struct BodyProgress: ~Copyable {
    /// Where the check continues.
    enum Place {
        /// At the beginning of a document. Can transition to: elements, if the document is an array whose elements are
        /// checked one by one; end.
        case document
        /// At the beginning of a line, this many bytes into the text. Can transition to: end.
        case lines(Int)
        /// Between two elements of an array. The error is reported if the text turns out not to be an array.
        /// Can transition to: end.
        case elements(JSONElementScanner, JSONError)
        /// Everything is checked. No way out.
        case end
    }

    var place: Place
    var collector: BatchCollector
    let arrival: Timestamp
    /// Whether the arrival is the time of the check, and another one each time.
    let arrivesNow: Bool
    /// The times that events may state, relative to their arrival; `nil` for all.
    let eventTimes: TimeWindow?
    /// Whether a `null` counts as an absent property if the plan does not allow it there.
    let nullIsAbsent: Bool
    /// The events that the sender may send; `nil` for all.
    let allowedEvents: EventSet?
    let excess: BodyExcess
    /// What is added to the `context`.
    let additions: ContextAdditions
    /// What is wrong with events beside what the check finds, by their indexes.
    let refusals: [Int: [Violation]]

    /// The approximate memory that it holds, in bytes.
    package var byteCount: Int { collector.byteCount }
}

/// The limits of one turn of a check.
package struct CheckBudget: Sendable, Hashable {
    /// The maximum number of bytes of the body.
    ///
    /// It is tested between events, so a turn may exceed it by one event, or by one piece of 64 KiB.
    package var bytes: Int
    /// The maximum number of rejected events.
    package var rejections: Int

    /// Whether nothing is left for this turn.
    package var isSpent: Bool { bytes <= 0 || rejections <= 0 }

    /// Creates a budget for a turn.
    package init(bytes: Int, rejections: Int) {
        self.bytes = bytes
        self.rejections = rejections
    }

    static let unlimited = CheckBudget(bytes: .max, rejections: .max)
}
