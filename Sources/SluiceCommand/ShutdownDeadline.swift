import Foundation
import ServiceLifecycle

/// Ends the process where its shutdown takes longer than all the parts of it may take together.
///
/// A call that hangs in the kernel, as on a disk that does not answer, cannot be cancelled, and whatever waits for it hangs,
/// too. So this waits for nothing of the process: it has a thread of its own, and ends with `_exit`.
struct ShutdownDeadline: Service {
    /// How long a shutdown may take.
    let limit: Duration
    /// Says what is unknown when the time is up.
    let finding: @Sendable () -> String

    /// Waits for the shutdown, and begins to count then.
    func run() async {
        // Where something else has failed, this is cancelled, and the rest has to end, too.
        try? await gracefulShutdown()
        let deadline = ContinuousClock.now + limit
        Thread.detachNewThread {
            Self.wait(until: deadline)
            Self.endProcess("The shutdown took longer than \(limit.components.seconds) s. \(finding())")
        }
    }

    /// Says why, where standard error takes it, and ends the process with 1, without waiting for anything.
    static func endProcess(_ sentence: String) -> Never {
        // A reader of it may hang as well as a disk.
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
