import Foundation

/// Reproducible random numbers: SplitMix64.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

/// The seeds of a simulation, which runs once for each.
package enum SimulationSeeds {
    /// The largest number of seeds, from the environment; 20 if it states none, and 100 in `.ci/run`.
    private static let limit =
        ProcessInfo.processInfo.environment["SLUICE_TEST_SEEDS"].flatMap { UInt64($0) } ?? 20

    /// The first seeds; `count` is how many are worth running, given unlimited time.
    package static func upTo(_ count: UInt64) -> Range<UInt64> { 0..<min(count, limit) }
}
