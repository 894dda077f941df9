import EventModel
public import EventValidation

/// Translates and checks batches of Segment's clients without a connection, so that benchmarks can measure it.
@_spi(Benchmarks)
public final class SegmentCheck {
    private let validator: EventValidator
    private let tools = TranslationTools(maximumEvents: .max)
    // The events of the benchmarks are old.
    private let window = TimeWindow(past: .seconds(36_500 * 86_400), ahead: TimeWindow.standard.ahead)

    /// Makes a check against a plan.
    public init(catalog: EventCatalog) {
        validator = EventValidator(catalog: catalog)
    }

    /// Checks the body of a request to `/v1/batch`.
    ///
    /// - Throws: `MalformedBody` if it is not an object with an array `batch`.
    public func check(_ body: [UInt8]) throws -> CheckedBody {
        let translation = MessageBody(SegmentMessages(kind: nil, BodyArrival(time: .now(), window: window)))
        var bytes = Int.max
        _ = try body.withUnsafeBytes { try translation.advance($0, with: tools, within: &bytes) }
        var progress = validator.begin(
            bodyOf: translation.text.count,
            as: .lines,
            eventTimes: window,
            nullIsAbsent: true
        )
        var budget = CheckBudget(bytes: .max, rejections: .max)
        _ = try validator.check(translation.text, from: &progress, within: &budget)
        return validator.finish(progress)
    }
}
