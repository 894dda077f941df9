import CLibPQ
import TrackerKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A connection to the server whose calls never block longer than their limit.
///
/// libpq runs in its non-blocking mode. Every wait is a `poll`, cut into short slices so that an interrupt or a
/// deadline is noticed. A connection belongs to one thread. After a failure whose source is not the server, it is
/// unusable and must be discarded.
final class PostgresConnection {
    /// The maximum delay until an interrupt is noticed.
    private static let pollSlice = Duration.milliseconds(100)

    let handle: OpaquePointer
    /// The staging tables that this session has created; the server drops them with the session.
    var stagingTables: Set<String> = []
    /// The keys for which the session has the functions that search rows, by the names of the functions.
    var searchKeys: [String: [String]] = [:]
    /// Whether a pooler is between this client and the server; set by `findPooler`.
    var isPooled = false
    /// Whether the latest transaction's COMMIT was sent; after a failure, it may have succeeded.
    var hasSentCommit = false

    /// Connects.
    convenience init(_ settings: ConnectionSettings, interrupt: Interrupt) throws(PostgresFailure) {
        try self.init(settings, limit: WaitLimit(interrupt: interrupt, timeout: settings.connectTimeout))
    }

    /// Connects within the limit of a wait.
    init(_ settings: ConnectionSettings, limit: WaitLimit) throws(PostgresFailure) {
        guard let handle = Self.begin(settings) else {
            throw PostgresFailure(source: .connection, message: "There is no memory for a connection.")
        }
        self.handle = handle
        // With verbose messages, `ConnectionMessage` can read the code of a refusal from the text.
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        // By default, libpq prints notices to standard error.
        PQsetNoticeReceiver(handle, { _, _ in }, nil)
        try finishConnecting(limit)
        PQsetnonblocking(handle, 1)
        PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
    }

    deinit {
        PQfinish(handle)
    }

    /// The role that the connection is authenticated as.
    var role: String { PQuser(handle).map { String(cString: $0) } ?? "" }

    /// The encoding in which the database stores text.
    var databaseEncoding: String { PQparameterStatus(handle, "server_encoding").map { String(cString: $0) } ?? "" }

    /// Whether the connection is established and no transaction is open.
    var isIdle: Bool { PQtransactionStatus(handle) == PQTRANS_IDLE }

    /// Whether a transaction is open and has not failed.
    var isInTransaction: Bool { PQtransactionStatus(handle) == PQTRANS_INTRANS }

    /// Whether the server has answered everything, and the connection is still there.
    ///
    /// Then a COMMIT that failed has rolled back.
    var isSettled: Bool {
        let status = PQtransactionStatus(handle)
        return PQstatus(handle) == CONNECTION_OK && (status == PQTRANS_IDLE || status == PQTRANS_INERROR)
    }

    /// Asks the server to cancel the current statement, without waiting for the response.
    ///
    /// The request uses a connection of its own, which can block, so it runs on a thread that ends with it.
    func requestCancel() {
        guard let cancel = PQgetCancel(handle) else { return }
        #if canImport(Darwin)
        var thread: pthread_t?
        let status = pthread_create(&thread, nil, { sendCancel($0) }, UnsafeMutableRawPointer(cancel))
        #else
        var thread = pthread_t()
        let status = pthread_create(&thread, nil, { sendCancel($0) }, UnsafeMutableRawPointer(cancel))
        #endif
        if status != 0 { PQfreeCancel(cancel) }
    }

    /// The failure that libpq's last message describes.
    var lastFailure: PostgresFailure {
        let message = ConnectionMessage(PQerrorMessage(handle).map { String(cString: $0) } ?? "")
        return PostgresFailure(source: .connection, sqlState: message.sqlState, message: message.text)
    }

    /// Waits until the socket is readable or writable, whichever is requested.
    func waitForSocket(reading: Bool, writing: Bool, _ limit: WaitLimit) throws(PostgresFailure) {
        let events = (reading ? Int16(POLLIN) : 0) | (writing ? Int16(POLLOUT) : 0)
        while true {
            try limit.check()
            var descriptor = pollfd(fd: PQsocket(handle), events: events, revents: 0)
            guard descriptor.fd >= 0 else { throw lastFailure }
            let rest = min(Self.pollSlice, limit.deadline - .now)
            let ready = poll(&descriptor, 1, Int32(max(1, rest / .milliseconds(1))))
            if ready > 0 { return }
            if ready < 0, errno != EINTR {
                throw PostgresFailure(source: .connection, message: "Waiting for the server failed (error \(errno)).")
            }
        }
    }

    private static func begin(_ settings: ConnectionSettings) -> OpaquePointer? {
        // libpq copies the strings, so they are freed after the call.
        let keywords = settings.parameters.map { strdup($0.keyword) }
        let values = settings.parameters.map { strdup($0.value) }
        defer { (keywords + values).forEach { free($0) } }
        let keywordList = keywords.map { UnsafePointer($0) } + [nil]
        let valueList = values.map { UnsafePointer($0) } + [nil]
        return PQconnectStartParams(keywordList, valueList, 1)
    }

    private func finishConnecting(_ limit: WaitLimit) throws(PostgresFailure) {
        guard PQstatus(handle) != CONNECTION_BAD else { throw connectingFailed }
        var wantsToWrite = true
        while true {
            do {
                try waitForSocket(reading: !wantsToWrite, writing: wantsToWrite, limit)
            } catch  where error.source == .waiting {
                throw PostgresFailure(source: .waiting, message: "The connection could not be made in time.")
            }
            switch PQconnectPoll(handle) {
            case PGRES_POLLING_OK: return
            case PGRES_POLLING_READING: wantsToWrite = false
            case PGRES_POLLING_WRITING: wantsToWrite = true
            default: throw connectingFailed
            }
        }
    }

    private var connectingFailed: PostgresFailure {
        // libpq, not the server, detects a missing password; it counts as one that was refused.
        guard PQconnectionNeedsPassword(handle) == 0 else {
            let message = ConnectionMessage(PQerrorMessage(handle).map { String(cString: $0) } ?? "")
            return PostgresFailure(
                source: .connection,
                sqlState: "28P01",
                message: message.text
                    + ". State a password, or connect to a server on this machine over its Unix socket, "
                    + "without a host: postgres:///NAME"
            )
        }
        return lastFailure
    }
}

/// Sends a cancel request and frees it.
private func sendCancel(_ cancel: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    // No other thread joins this one.
    pthread_detach(pthread_self())
    guard let cancel = OpaquePointer(cancel as UnsafeMutableRawPointer?) else { return nil }
    var message = [CChar](repeating: 0, count: 256)
    _ = PQcancel(cancel, &message, Int32(message.count))
    PQfreeCancel(cancel)
    return nil
}

/// The timeout of a call to the server, and the interrupt that can end the wait early.
struct WaitLimit {
    let interrupt: Interrupt
    let deadline: ContinuousClock.Instant

    init(interrupt: Interrupt, timeout: Duration) {
        self.interrupt = interrupt
        deadline = .now + timeout
    }

    /// How much time is left, at least a millisecond.
    var remaining: Duration { max(.milliseconds(1), deadline - .now) }

    /// Throws once the wait is over.
    func check() throws(PostgresFailure) {
        if interrupt.isRaised { throw .interrupted }
        if ContinuousClock.now >= deadline { throw .timedOut }
    }
}
