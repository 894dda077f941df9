#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What the turns of an event loop took.
package struct TurnStatistics: Sendable {
    /// Turns that were given to bodies, the first of each included.
    package var turns = 0
    /// How often a body was set aside.
    package var setAside = 0
    /// The most rejected events of one turn.
    package var mostRejections = 0
    /// The most bytes of one turn, counted as `CheckBudget` counts them.
    package var mostBytes = 0
    /// The most time of the processor between two looks at what other connections sent, spent on bodies and answers.
    package var longestStretch = Duration.zero

    /// Takes what another loop counted into account.
    package mutating func merge(_ other: TurnStatistics) {
        turns += other.turns
        setAside += other.setAside
        mostRejections = max(mostRejections, other.mostRejections)
        mostBytes = max(mostBytes, other.mostBytes)
        longestStretch = max(longestStretch, other.longestStretch)
    }
}

/// The time that the calling thread has had of a processor.
enum ThreadTime {
    static func now() -> Duration {
        var time = timespec()
        guard clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 else { return .zero }
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
