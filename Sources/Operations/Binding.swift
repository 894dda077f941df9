import Hummingbird
import NIOCore
import ServiceLifecycle
import Synchronization

/// Runs a server, after another one is bound if it has to wait for that, and tells those who wait that it could not be bound.
struct Binding<Application: ApplicationProtocol>: Service {
    let application: Application
    /// What the server itself finishes once it is bound.
    let outcomes: [Outcome<String>]
    /// What has to succeed before.
    var after: Outcome<String>?

    func run() async throws {
        do {
            _ = try await after?.value()
        } catch {
            for outcome in outcomes { outcome.finish(.failure(error)) }
            // The error of the other server is the one that counts.
            return try await gracefulShutdown()
        }
        do {
            try await application.run()
            for outcome in outcomes { outcome.finish(.failure(CancellationError())) }
        } catch {
            for outcome in outcomes { outcome.finish(.failure(error)) }
            throw error
        }
    }
}

/// Ends a group of services with the error if something is not bound.
struct BindingCheck: Service {
    let outcome: Outcome<String>

    func run() async throws {
        _ = try await outcome.value()
        try await gracefulShutdown()
    }
}

/// A value or an error that comes later, once.
final class Outcome<Success: Sendable>: Sendable {
    private struct State {
        var result: Result<Success, any Error>?
        var waiting: [CheckedContinuation<Success, any Error>] = []
    }

    private let state = Mutex(State())

    /// Waits for it.
    func value() async throws -> Success {
        try await withCheckedThrowingContinuation { continuation in
            let result = state.withLock { state in
                if state.result == nil { state.waiting.append(continuation) }
                return state.result
            }
            if let result { continuation.resume(with: result) }
        }
    }

    /// Sets it; only the first result counts.
    func finish(_ result: Result<Success, any Error>) {
        let waiting = state.withLock { state in
            guard state.result == nil else { return [CheckedContinuation<Success, any Error>]() }
            state.result = result
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume(with: result) }
    }
}
