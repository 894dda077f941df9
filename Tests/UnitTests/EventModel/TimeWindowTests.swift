import EventModel
import Testing

@Suite("The window of times around an arrival")
struct TimeWindowTests {
    private static let arrival = Timestamp(microseconds: 1_700_000_000_000_000)

    @Test("contains both limits, and nothing a microsecond beyond them")
    func limits() {
        let window = TimeWindow(past: .milliseconds(5), ahead: .microseconds(3))
        let cases: [(Int64, Bool)] = [(-5001, false), (-5000, true), (0, true), (3, true), (4, false)]
        for (offset, isContained) in cases {
            let time = Timestamp(microseconds: Self.arrival.microseconds + offset)
            #expect(window.contains(time, arrival: Self.arrival) == isContained, "\(offset)")
        }
    }

    @Test("has only times that a timestamp can have, whatever its limits are")
    func extremes() {
        let all = TimeWindow(past: .seconds(Int64.max), ahead: .seconds(Int64.max)).microseconds(around: Self.arrival)
        #expect(Timestamp(microseconds: .min).microseconds == all.lowerBound)
        #expect(Timestamp(microseconds: .max).microseconds == all.upperBound)
        let none = TimeWindow(past: .seconds(-1), ahead: .seconds(Int64.min)).microseconds(around: Self.arrival)
        #expect(none == Self.arrival.microseconds...Self.arrival.microseconds)
    }

    @Test("goes from 400 days before to 2 days after the arrival by default")
    func standard() {
        let range = TimeWindow.standard.microseconds(around: Self.arrival)
        #expect(Self.arrival.microseconds - range.lowerBound == 400 * 86_400_000_000)
        #expect(range.upperBound - Self.arrival.microseconds == 2 * 86_400_000_000)
    }
}
