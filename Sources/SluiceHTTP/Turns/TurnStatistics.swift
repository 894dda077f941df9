#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Statistics of an event loop's turns.
package struct TurnStatistics: Sendable {
    /// The number of turns, including the first one of each body.
    package var turns = 0
    /// How often a body had to wait for another turn.
    package var setAside = 0
    /// The maximum number of rejected events of one turn.
    package var mostRejections = 0
    /// The maximum number of bytes of one turn, counted as `CheckBudget` counts them.
    package var mostBytes = 0
    /// The longest processor time between two checks for input of other connections, spent on bodies and responses.
    package var longestStretch = Duration.zero

    /// Merges the statistics of another loop.
    package mutating func merge(_ other: TurnStatistics) {
        turns += other.turns
        setAside += other.setAside
        mostRejections = max(mostRejections, other.mostRejections)
        mostBytes = max(mostBytes, other.mostBytes)
        longestStretch = max(longestStretch, other.longestStretch)
    }
}

/// The processor time of the calling thread.
enum ThreadTime {
    static func now() -> Duration {
        var time = timespec()
        guard clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 else { return .zero }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
