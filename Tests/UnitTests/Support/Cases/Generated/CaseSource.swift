import Foundation

/// Reproducible random cases: the same seed gives the same cases.
package struct CaseSource: RandomNumberGenerator {
    package static let seedVariable = "SLUICE_PROPERTY_SEED"

    /// The seed of this run: random, unless the environment states one.
    package static let runSeed: UInt64 =
        ProcessInfo.processInfo.environment[seedVariable].flatMap { UInt64($0) } ?? UInt64.random(in: 0..<1_000_000_000)

    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    // SplitMix64.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }

    /// True with a probability of 1 in `count`.
    package mutating func once(in count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }

    package mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[number(0...elements.count - 1)] }
}
