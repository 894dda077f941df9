/// Generates ids of version 7 for events that arrive without one.
///
/// Each id is greater than the one before, unless the clock is set back or one millisecond has more than half a billion ids. So
/// an index over them grows at its end, within a millisecond too (RFC 9562, section 6.2, method 2).
///
/// Not safe to share: each thread needs its own. The random bits come from xoshiro256++ with a seed from the system: ids are
/// unique, but not secret.
public struct EventIDGenerator: Sendable {
    private var state: (UInt64, UInt64, UInt64, UInt64)
    // The last id.
    private var millisecond = Int64.min
    private var randomA: UInt16 = 0
    private var randomB: UInt64 = 0

    /// Creates a generator with a seed from the system.
    public init() {
        var system = SystemRandomNumberGenerator()
        self.init(using: &system)
    }

    /// Creates a generator with a seed from `source`.
    public init(using source: inout some RandomNumberGenerator) {
        // A state of zeros only would stay zero.
        state = (source.next() | 1, source.next(), source.next(), source.next())
    }

    /// Returns an id for an event that arrived at `time`.
    public mutating func next(at time: Timestamp) -> EventID {
        // As in the id: version 7 has no times before 1970.
        let now = max(0, time.microseconds / 1000)
        let random = next()
        if now == millisecond {
            // Steps of 32 random bits: a millisecond has room for half a billion of them.
            randomB &+= random >> 32 | 1
        } else {
            millisecond = now
            randomA = UInt16(truncatingIfNeeded: next() >> 48)
            // 61 of the 62 bits, which leaves room for the steps.
            randomB = random >> 3
        }
        return EventID(version7At: time, randomA: randomA, randomB: randomB)
    }

    // Blackman and Vigna, "Scrambled linear pseudorandom number generators" (2021).
    private mutating func next() -> UInt64 {
        let result = Self.rotate(state.0 &+ state.3, by: 23) &+ state.0
        let shifted = state.1 << 17
        state.2 ^= state.0
        state.3 ^= state.1
        state.1 ^= state.2
        state.0 ^= state.3
        state.2 ^= shifted
        state.3 = Self.rotate(state.3, by: 45)
        return result
    }

    private static func rotate(_ word: UInt64, by bits: UInt64) -> UInt64 {
        word << bits | word >> (64 - bits)
    }
}
