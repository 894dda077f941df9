/// The operations under way in each lane of a tracker: at most two, so that one batch is checked while another one is loaded.
struct Lanes: Sendable {
    private static let limit = 2

    /// The lane of a partition in the destination.
    private let lane: @Sendable (Int32) -> Int
    private var counts: [Int: Int] = [:]

    init(_ lane: @escaping @Sendable (Int32) -> Int) {
        self.lane = lane
    }

    var isEmpty: Bool { counts.isEmpty }

    func hasRoom(forPartition number: Int32) -> Bool { counts[lane(number), default: 0] < Self.limit }

    /// An operation of a partition begins.
    mutating func enter(_ number: Int32) { counts[lane(number), default: 0] += 1 }

    /// An operation of a partition has ended.
    mutating func leave(_ number: Int32) {
        let count = counts[lane(number), default: 0] - 1
        counts[lane(number)] = count > 0 ? count : nil
    }
}
