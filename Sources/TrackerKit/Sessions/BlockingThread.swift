#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A thread for calls that block, as the executor of an actor, such as a tracker over a C library.
///
/// ```swift
/// actor Session {
///     private let thread: BlockingThread
///     nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
///
///     init() throws {
///         thread = try BlockingThread()
///     }
/// }
/// ```
///
/// The thread ends when the executor is released.
public final class BlockingThread: SerialExecutor {
    private let jobs = JobQueue()

    /// Starts the thread.
    ///
    /// - Throws: `unavailable`, retryable, if the system cannot create another thread.
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
                message: "The system cannot create another thread: \(reason).",
                isRetryable: true
            )
        }
    }

    deinit {
        jobs.close()
    }

    /// Runs a job on the thread, after those that were enqueued before it.
    public func enqueue(_ job: consuming ExecutorJob) {
        jobs.push(UnownedJob(job))
    }

    /// The executor in the form that an actor's `unownedExecutor` returns.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    /// The argument of the thread's main function.
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

/// The jobs that wait for a thread, in order; the thread sleeps while there are none.
///
/// It holds at most one job for each task that awaits the actor, so the number of tasks bounds it.
// Safe to share: `pending` and `isClosed` are touched under `mutex` only, and the two pointers never change.
private final class JobQueue: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var pending: [UnownedJob] = []
    private var isClosed = false

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func push(_ job: UnownedJob) {
        pthread_mutex_lock(mutex)
        pending.append(job)
        pthread_mutex_unlock(mutex)
        pthread_cond_signal(condition)
    }

    /// Lets the thread end once no job is left.
    func close() {
        pthread_mutex_lock(mutex)
        isClosed = true
        pthread_mutex_unlock(mutex)
        pthread_cond_signal(condition)
    }

    /// Waits for jobs and takes all of them; `nil` once the queue is closed and empty.
    func takeAll() -> [UnownedJob]? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while pending.isEmpty {
            if isClosed { return nil }
            pthread_cond_wait(condition, mutex)
        }
        let jobs = pending
        pending.removeAll(keepingCapacity: true)
        return jobs
    }
}
