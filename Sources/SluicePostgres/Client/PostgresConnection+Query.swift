import CLibPQ

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension PostgresConnection {
    /// Runs statements, ignores their rows, and returns how many rows the first one affected.
    @discardableResult
    func execute(_ sql: String, _ limit: WaitLimit) throws(PostgresFailure) -> Int {
        guard PQsendQuery(handle, sql) == 1 else { throw lastFailure }
        try flush(limit)
        var affected: Int?
        try forEachResult(limit) { affected = affected ?? $0.affectedRows }
        return affected ?? 0
    }

    /// Runs one statement and returns its rows as text, with `nil` for NULL.
    func rows(
        of sql: String,
        parameters: [String],
        _ limit: WaitLimit
    ) throws(PostgresFailure) -> [[String?]] {
        let copies = parameters.map { strdup($0) }
        defer { copies.forEach { free($0) } }
        let values = copies.map { UnsafePointer($0) }
        guard PQsendQueryParams(handle, sql, Int32(values.count), nil, values, nil, nil, 0) == 1 else {
            throw lastFailure
        }
        try flush(limit)
        var rows: [[String?]] = []
        try forEachResult(limit) { rows += $0.rows() }
        return rows
    }

    /// Runs statements in one round trip, and returns the rows of the last one that has any, as text.
    func lastRows(of sql: String, _ limit: WaitLimit) throws(PostgresFailure) -> [[String?]] {
        guard PQsendQuery(handle, sql) == 1 else { throw lastFailure }
        try flush(limit)
        var last: [[String?]] = []
        try forEachResult(limit) { if $0.status == PGRES_TUPLES_OK { last = $0.rows() } }
        return last
    }

    /// Waits until libpq has sent everything in its buffer.
    func flush(_ limit: WaitLimit) throws(PostgresFailure) {
        while true {
            switch PQflush(handle) {
            case 0: return
            case 1: break
            default: throw lastFailure
            }
            // The server may stop reading until this client reads its responses.
            try waitForSocket(reading: true, writing: true, limit)
            guard PQconsumeInput(handle) == 1 else { throw lastFailure }
        }
    }

    /// Returns the next result of the statements that were sent; `nil` after the last.
    func nextResult(_ limit: WaitLimit) throws(PostgresFailure) -> QueryResult? {
        while PQisBusy(handle) == 1 {
            try waitForSocket(reading: true, writing: false, limit)
            guard PQconsumeInput(handle) == 1 else { throw lastFailure }
        }
        guard let result = PQgetResult(handle) else { return nil }
        return QueryResult(adopting: result)
    }

    /// Passes every result to `body`, then throws the first failure among them.
    func forEachResult(
        _ limit: WaitLimit,
        _ body: (borrowing QueryResult) -> Void
    ) throws(PostgresFailure) {
        var failure: PostgresFailure?
        while let result = try nextResult(limit) {
            failure = failure ?? result.failure
            if result.failure == nil { body(result) }
            if result.status == PGRES_COPY_IN || result.status == PGRES_COPY_OUT || result.status == PGRES_COPY_BOTH {
                // Without this, libpq would return the same result forever. Only a migration can start a COPY here.
                throw PostgresFailure(source: .connection, message: "COPY from or to the client is not possible here.")
            }
        }
        if let failure { throw failure }
    }
}
