import Foundation
import ServiceLifecycle

/// Ends the process if its shutdown takes longer than all its phases together may take.
///
/// A call that hangs in the kernel, for example on a disk that does not respond, cannot be cancelled, and everything that
/// waits for it hangs too. So this service has a thread of its own, waits for nothing else in the process, and ends it with
/// `_exit`.
struct ShutdownDeadline: Service {
    /// How long a shutdown may take.
    let limit: Duration
    /// Describes, when the time is up, what is unknown.
    let finding: @Sendable () -> String

    /// Waits for the shutdown to begin, and then starts the deadline.
    func run() async {
        // If another service has failed, this is cancelled, and the shutdown begins as well.
        try? await gracefulShutdown()
        let deadline = ContinuousClock.now + limit
        Thread.detachNewThread {
            Self.wait(until: deadline)
            let sentence = "The shutdown took longer than \(limit.components.seconds) s."
            // The finding needs locks, which may be held by what hangs.
            Thread.detachNewThread { Self.endProcess("\(sentence) \(finding())") }
            Self.wait(until: deadline + .seconds(1))
            Self.endProcess("\(sentence) Sluice could not determine which events are affected.")
        }
    }

    /// Prints a sentence if standard error accepts it, and ends the process with 1 without waiting for anything.
    static func endProcess(_ sentence: String) -> Never {
        // The reader of standard error may hang, too.
        var error = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        if poll(&error, 1, 1000) == 1 { Terminal.printError("\(sentence)") }
        _exit(1)
    }

    private static func wait(until deadline: ContinuousClock.Instant) {
        while true {
            let left = deadline - ContinuousClock.now
            if left <= .zero { return }
            poll(nil, 0, Int32(clamping: Int64((left / .milliseconds(1)).rounded(.up))))
        }
    }
}
