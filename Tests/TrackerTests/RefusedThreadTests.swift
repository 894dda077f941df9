#if canImport(Glibc)
import EventPipeline
import EventSchema
import EventValidation
import Glibc
import Logging
import SluiceConsole
import SluiceKafka
import SluicePostgres
import Testing
import TrackerKit

/// Each test runs in a process of its own, because the limit applies to the whole process.
@Suite("When the system refuses a thread", .timeLimit(.minutes(5)))
struct RefusedThreadTests {
    @Test("a blocking thread throws an error, and can be created later")
    func thread() async {
        await #expect(processExitsWith: .success) {
            let error = try await refusingThreads {
                #expect(throws: TrackerError.self) { _ = try BlockingThread() }
            }
            #expect(error?.code == .unavailable)
            #expect(error?.isRetryable == true)
            #expect(error?.message == "The system cannot create another thread: Resource temporarily unavailable.")
            _ = try BlockingThread()
        }
    }

    @Test("a session is created once a thread is available again")
    func session() async {
        await #expect(processExitsWith: .success) {
            let session = SessionOnDemand { () throws(TrackerError) in try BlockingThread() }
            _ = try await refusingThreads {
                #expect(throws: TrackerError.self) { _ = try session.get() }
            }
            #expect(session.ifMade == nil)
            let made = try session.get()
            #expect(session.ifMade === made)
            #expect(try session.get() === made)
        }
    }

    @Test("a tracker fails to start, delivers nothing, and can be stopped")
    func start() async {
        await #expect(processExitsWith: .success) {
            let logger = Logger(label: "test")
            let trackers: [any Tracker] = [
                ConsoleTracker(),
                KafkaTracker(KafkaConfiguration(brokers: "127.0.0.1:1"), logger: logger),
                PostgresTracker(PostgresConfiguration(connection: "postgresql://127.0.0.1:1/"), logger: logger),
            ]
            let catalog = EventCatalog(plan: TrackingPlan(events: []))
            for tracker in trackers {
                let error = try await refusingThreads {
                    #expect(await tracker.deliver(Delivery([])).retry?.reason.code == .unavailable)
                    return await #expect(throws: TrackerError.self) { try await tracker.start(for: catalog) }
                }
                #expect(error?.code == .unavailable)
                #expect(error?.isRetryable == true)
                await tracker.stop()
            }
        }
    }
}

/// Runs `body` while a new thread would need more address space for its stack than the process has.
private func refusingThreads<Value>(_ body: () async throws -> Value) async throws -> Value {
    let get = try attributesFunction("pthread_getattr_default_np")
    let set = try attributesFunction("pthread_setattr_default_np")
    let usual = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 2)
    let impossible = usual + 1
    defer { usual.deallocate() }
    try #require(get(usual) == 0)
    try #require(pthread_attr_init(impossible) == 0)
    try #require(pthread_attr_setstacksize(impossible, 1 << 47) == 0)
    try #require(set(impossible) == 0)
    defer { _ = set(usual) }
    return try await body()
}

/// Looks up a glibc function that Swift does not import.
private func attributesFunction(
    _ name: String
) throws -> @convention(c) (UnsafeMutablePointer<pthread_attr_t>) -> Int32 {
    let address = try #require(dlsym(nil, name))
    return unsafeBitCast(address, to: (@convention(c) (UnsafeMutablePointer<pthread_attr_t>) -> Int32).self)
}
#endif
