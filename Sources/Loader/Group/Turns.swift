/// The order in which partitions are served: first the one that was served longest ago.
package struct Turns {
    private var count = 0
    /// The number of each partition's last turn.
    private var last: [Int32: Int] = [:]

    package init() {}

    /// A partition is served now.
    package mutating func serve(_ number: Int32) {
        count += 1
        last[number] = count
    }

    /// Partitions in the order of their turns; those that were never served are first, by their numbers.
    package func sorted(_ numbers: some Sequence<Int32>) -> [Int32] {
        numbers.sorted { (last[$0] ?? 0, $0) < (last[$1] ?? 0, $1) }
    }
}
