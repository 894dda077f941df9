import EventModel
import EventSchema
import EventValidation
import TestCases

/// Checks the same lines with and without the short walk over their structure, which must not change anything in the result.
struct BothWalks {
    /// What may differ from body to body.
    struct Request {
        var eventTimes: TimeWindow?
        var nullIsAbsent = false
        var allowedEvents: EventSet?
        var additions = ContextAdditions()
        var refusals: [Int: [Violation]] = [:]
        /// The maximum number of bytes and of rejections in a turn.
        var turn: (bytes: Int, rejections: Int) = (.max, .max)
    }

    /// Everything in the result for a body.
    struct Outcome: Equatable {
        var lines: [UInt8] = []
        var entries: [String] = []
        var rejections: [String] = []
        var rejected: [ClosedRange<Int>] = []
        var problem = ""
    }

    private let short: EventValidator
    private let long: EventValidator

    /// The number of events that the short walk accepted.
    var structuralEvents: Int { short.structuralEvents }

    /// Ids are derived, so that both walks give the same ones.
    init(_ catalog: EventCatalog, acceptsReceivedAt: Bool = false, maximumExplained: Int = .max) {
        func validator() -> EventValidator {
            EventValidator(
                catalog: catalog,
                identity: .derivedFromContent,
                acceptsReceivedAt: acceptsReceivedAt,
                maximumExplained: maximumExplained,
                now: { Sent.arrival }
            )
        }
        (short, long) = (validator(), validator())
        long.setUsesStructure(false)
    }

    /// The results of both walks; they must be equal.
    func check(_ lines: [UInt8], _ request: Request = Request()) -> (short: Outcome, long: Outcome) {
        (Self.check(lines, request, short), Self.check(lines, request, long))
    }

    private static func check(_ lines: [UInt8], _ request: Request, _ validator: EventValidator) -> Outcome {
        // A body of its own for each walk.
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: lines.count, alignment: 1)
        defer { copy.deallocate() }
        copy.copyBytes(from: lines)
        var progress = validator.begin(
            bodyOf: lines.count,
            as: .lines,
            eventTimes: request.eventTimes,
            nullIsAbsent: request.nullIsAbsent,
            allowedEvents: request.allowedEvents,
            additions: request.additions,
            refusals: request.refusals
        )
        do {
            while true {
                var budget = CheckBudget(bytes: request.turn.bytes, rejections: request.turn.rejections)
                if try validator.check(UnsafeRawBufferPointer(copy), from: &progress, within: &budget) { break }
            }
        } catch {
            return Outcome(problem: "\(error)")
        }
        let checked = validator.finish(progress)
        return Outcome(
            lines: checked.batch.map { Array($0.lines) } ?? [],
            entries: checked.batch?.entries.map { "\($0)" } ?? [],
            rejections: checked.rejections.map { "\($0)" },
            rejected: checked.rejected.indexes
        )
    }
}
