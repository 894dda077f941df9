#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The jobs that wait for a thread, in their order; the thread sleeps while there are none.
///
/// It holds at most one job for each task that is awaiting the actor, so the tasks bound it.
// Safe to share: `pending` and `isClosed` are touched under `mutex` only, and the two pointers never change.
final class JobQueue: @unchecked Sendable {
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

    /// Lets the thread end once nothing waits.
    func close() {
        pthread_mutex_lock(mutex)
        isClosed = true
        pthread_mutex_unlock(mutex)
        pthread_cond_signal(condition)
    }

    /// All jobs that wait, sleeping until there is one; `nil` when there will be none.
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
