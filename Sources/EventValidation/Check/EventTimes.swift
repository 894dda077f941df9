@_spi(CanonicalJSON) import EventModel

/// The times that events which arrive at one moment may have.
struct EventTimes {
    private let window: TimeWindow
    /// Whether an event may not state a time outside the window.
    private let isLimited: Bool
    /// The times within the window, in microseconds since 1970.
    private let range: ClosedRange<Int64>

    /// Accepts only times within a window; or every time without one, because the events were accepted before.
    init(_ window: TimeWindow?, arrival: Timestamp) {
        self.window = window ?? .standard
        isLimited = window != nil
        range = self.window.microseconds(around: arrival)
    }

    /// Whether an event may have happened at a time.
    @inline(__always)
    func accepts(_ time: Timestamp) -> Bool { !isLimited || range.contains(time.microseconds) }

    /// The time of an event that states none, if its sender chose an id that has one.
    ///
    /// Each attempt to send the event then gives it the same time. An id can have the version 7 by chance, and then its time is
    /// probably far away.
    func time(in id: EventID) -> Timestamp? {
        id.version7Time.flatMap { range.contains($0.microseconds) ? $0 : nil }
    }

    /// What a time that is not accepted should have been, and what was found instead of it.
    func problem(with time: Timestamp) -> (expected: String, found: String) {
        let expected = "a time from \(Self.text(window.past)) before to \(Self.text(window.ahead)) after its arrival"
        return (expected, time.microseconds < range.lowerBound ? "an earlier one" : "a later one")
    }

    private static func text(_ limit: Duration) -> String {
        let seconds = max(limit, .zero).components.seconds
        guard seconds > 0, seconds % 86_400 == 0 else { return "\(seconds) s" }
        return Int(clamping: seconds / 86_400).of("day")
    }
}
