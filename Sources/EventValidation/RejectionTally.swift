/// Which events of a body were rejected, and why, without the details.
public struct RejectionTally: Sendable {
    /// How many events were rejected.
    public private(set) var count = 0
    /// The positions of all rejected events in what was sent, counted from 0, as ascending ranges with gaps between them.
    public private(set) var indexes: [ClosedRange<Int>] = []
    /// How many events were rejected for each code; an event that broke several rules counts for the first.
    public private(set) var codes: [VerdictCode: Int] = [:]

    /// Counts nothing yet.
    init() {}

    /// Counts the event at `index`, which comes after all that were counted before.
    mutating func add(_ code: VerdictCode, at index: Int) {
        count += 1
        codes[code, default: 0] += 1
        if let last = indexes.last, last.upperBound + 1 == index {
            indexes[indexes.count - 1] = last.lowerBound...index
        } else {
            indexes.append(index...index)
        }
    }
}
