@_spi(CanonicalJSON) import EventModel
import EventSchema

/// An event that was rejected, and the reasons, at most `maximumViolations` of them.
///
/// If the validator limits how many rejections it explains, those above the limit have only the first reason.
public struct Rejection: Sendable {
    /// The maximum number of violations listed for one event.
    public static let maximumViolations = EventLimits.maximumViolations

    /// The event's position in what was sent, counted from 0.
    public let index: Int
    /// The number of its line, counted from 1, if events were sent as lines.
    public let line: Int?
    /// The id that the sender stated, if it is a string of at most 64 bytes.
    public let id: String?
    /// The event's name, if the plan has an event with this name.
    public let name: String?
    /// The reasons; never empty.
    public let violations: [Violation]
    /// The event's bytes as they were sent.
    public let original: [UInt8]

    /// What it is counted by; `nil` if it has no reasons.
    package var kind: RejectionTally.Kind? {
        violations.first.map { RejectionTally.Kind(event: name, code: $0.code) }
    }

    /// The approximate memory that it takes, in bytes.
    package var approximateBytes: Int {
        violations.reduce(128 + original.count) { $0 + 256 + $1.path.utf8.count + $1.expected.utf8.count }
    }

    /// The approximate number of bytes that the quarantine stores for an event's verdict; in memory it takes twice as many.
    package static func storedBytes(of violations: [Violation]) -> Int {
        violations.reduce(160) { sum, violation in
            let texts = [violation.path, violation.expected, violation.found, violation.location?.file ?? ""]
            return texts.reduce(sum + 80) { $0 + $1.utf8.count }
        }
    }

    /// Creates a rejection.
    public init(
        index: Int,
        line: Int? = nil,
        id: String?,
        name: String?,
        violations: [Violation],
        original: [UInt8]
    ) {
        self.index = index
        self.line = line
        self.id = id
        self.name = name
        self.violations = violations
        self.original = original
    }
}

/// Which events of a body were rejected, and with which codes, without the details.
public struct RejectionTally: Sendable {
    /// The number of rejected events.
    public private(set) var count = 0
    /// The positions of the rejected events in what was sent, counted from 0, as ascending ranges that do not touch.
    ///
    /// If a body may have more rejected events than the validator's `maximumRejections`, these are the positions of the first ones.
    public private(set) var indexes: [ClosedRange<Int>] = []
    /// The number of rejected events of each kind; an event that broke several rules counts for the first.
    package private(set) var kinds: [Kind: Int] = [:]

    /// The number of rejected events for each code; an event that broke several rules counts for the first.
    public var codes: [VerdictCode: Int] {
        kinds.reduce(into: [:]) { codes, kind in codes[kind.key.code, default: 0] += kind.value }
    }

    /// What rejected events are counted by.
    package struct Kind: Sendable, Hashable {
        /// The event's name; `nil` if the plan has no such event, or the name is unknown.
        package let event: String?
        package let code: VerdictCode

        package init(event: String?, code: VerdictCode) {
            self.event = event
            self.code = code
        }
    }

    init() {}

    /// Counts an event without its position.
    mutating func add(_ kind: Kind) {
        count += 1
        kinds[kind, default: 0] += 1
    }

    /// Counts the event at `index`, which must come after all events counted before.
    mutating func add(_ kind: Kind, at index: Int) {
        add(kind)
        if let last = indexes.last, last.upperBound + 1 == index {
            indexes[indexes.count - 1] = last.lowerBound...index
        } else {
            indexes.append(index...index)
        }
    }
}
