@_spi(CanonicalJSON) import EventModel

/// The times that events which arrive at one moment may have.
struct EventTimes {
    /// The limits; `nil` for none, because the events were accepted before.
    private let window: TimeWindow?
    /// The times that are accepted, in microseconds since 1970.
    private let accepted: ClosedRange<Int64>
    /// The times that are taken from ids, in microseconds since 1970.
    private let plausible: ClosedRange<Int64>

    /// Accepts every time.
    static let all = EventTimes(nil, arrival: Timestamp(microseconds: 0))

    init(_ window: TimeWindow?, arrival: Timestamp) {
        self.window = window
        accepted = window?.microseconds(around: arrival) ?? .min ... .max
        plausible = (window ?? .standard).microseconds(around: arrival)
    }

    /// Whether an event may have happened at a time.
    @inline(__always)
    func accepts(_ time: Timestamp) -> Bool { accepted.contains(time.microseconds) }

    /// The time of an event that states none, if its sender chose an id that has one.
    ///
    /// Each attempt to send the event then gives it the same time. An id can have the version 7 by chance, and then its time is
    /// probably far away.
    func time(in id: EventID) -> Timestamp? {
        id.version7Time.flatMap { plausible.contains($0.microseconds) ? $0 : nil }
    }

    /// What an event's time should have been, and what was found instead of it.
    func problem(with time: Timestamp) -> (expected: String, found: String) {
        guard let window else { return ("any time", "another") }
        let expected = "a time from \(Self.text(window.past)) before to \(Self.text(window.ahead)) after its arrival"
        return (expected, time.microseconds < accepted.lowerBound ? "an earlier one" : "a later one")
    }

    private static func text(_ limit: Duration) -> String {
        let seconds = max(limit, .zero).components.seconds
        guard seconds > 0, seconds % 86_400 == 0 else { return "\(seconds) s" }
        return Int(clamping: seconds / 86_400).of("day")
    }
}
