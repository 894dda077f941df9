#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A thread for calls that block, as the executor of an actor: a tracker over a C library or a pipe has one.
///
/// The thread ends when the executor is let go.
public final class BlockingThread: SerialExecutor {
    private let jobs = JobQueue()

    /// Starts the thread.
    ///
    /// - Throws: `unavailable`, retryable, where the system refuses another thread.
    public init() throws(TrackerError) {
        let start = Start(jobs: jobs, executor: asUnownedSerialExecutor())
        let context = Unmanaged.passRetained(start)  // released by the thread's first line
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        #if canImport(Darwin)
        var thread: pthread_t?
        let status = pthread_create(&thread, &attributes, { Start.run($0) }, context.toOpaque())
        #else
        var thread = pthread_t()
        let status = pthread_create(&thread, &attributes, { Start.run($0) }, context.toOpaque())
        #endif
        pthread_attr_destroy(&attributes)
        guard status == 0 else {
            context.release()
            let reason = String(cString: strerror(status))
            throw TrackerError(
                code: .unavailable,
                message: "The system refuses another thread: \(reason).",
                isRetryable: true
            )
        }
    }

    deinit {
        jobs.close()
    }

    /// Runs a job on the thread, after those that came before it.
    public func enqueue(_ job: consuming ExecutorJob) {
        jobs.push(UnownedJob(job))
    }

    /// The executor as actors want it.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    /// What the thread begins with.
    private final class Start: Sendable {
        let jobs: JobQueue
        // Not kept alive by the thread: whoever awaits a job keeps the actor, and the actor its executor.
        let executor: UnownedSerialExecutor

        init(jobs: JobQueue, executor: UnownedSerialExecutor) {
            self.jobs = jobs
            self.executor = executor
        }

        static func run(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
            guard let context else { return nil }
            let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
            while let jobs = start.jobs.takeAll() {
                for job in jobs {
                    job.runSynchronously(on: start.executor)
                }
            }
            return nil
        }
    }
}
