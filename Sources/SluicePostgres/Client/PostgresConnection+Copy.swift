import CLibPQ

extension PostgresConnection {
    /// Runs statements that end with a `COPY … FROM STDIN`, after which rows can be sent.
    ///
    /// Returns the rows of the last of these statements that has any, as text.
    func beginCopy(_ sql: String, _ limit: WaitLimit) throws(PostgresFailure) -> [[String?]] {
        guard PQsendQuery(handle, sql) == 1 else { throw lastFailure }
        try flush(limit)
        var last: [[String?]] = []
        while let result = try nextResult(limit) {
            if result.status == PGRES_COPY_IN { return last }
            if result.status == PGRES_TUPLES_OK { last = result.rows() }
            if let failure = result.failure {
                try drain(limit)
                throw failure
            }
        }
        throw PostgresFailure(source: .connection, message: "The server did not begin the COPY.")
    }

    /// Sends a part of the rows; the bytes are copied before this returns.
    ///
    /// Bytes that the socket does not accept are sent while the caller encodes the next part, so at most two parts are
    /// buffered.
    func sendCopy(_ bytes: UnsafeRawBufferPointer, _ limit: WaitLimit) throws(PostgresFailure) {
        try flush(limit)
        guard let start = bytes.baseAddress else { return }
        let sent = PQputCopyData(handle, start.assumingMemoryBound(to: CChar.self), Int32(clamping: bytes.count))
        guard sent == 1, PQflush(handle) >= 0 else { throw lastFailure }
    }

    /// Ends the COPY and returns how many rows the server accepted; throws its error if it rejected a row.
    func endCopy(_ limit: WaitLimit) throws(PostgresFailure) -> Int {
        try flush(limit)
        guard PQputCopyEnd(handle, nil) == 1 else { throw lastFailure }
        try flush(limit)
        var count = 0
        try forEachResult(limit) { count = $0.affectedRows }
        return count
    }

    /// Ends a COPY before its first row; the transaction has then failed.
    func abandonCopy(_ limit: WaitLimit) throws(PostgresFailure) {
        guard PQputCopyEnd(handle, "the table has changed") == 1 else { throw lastFailure }
        try flush(limit)
        try drain(limit)
        guard isSettled else { throw lastFailure }
    }

    /// Runs a `COPY … TO STDOUT`, and passes each row to `body` when it comes, with its line break.
    func copyOut(
        _ sql: String,
        _ limit: WaitLimit,
        _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(PostgresFailure) {
        guard PQsendQuery(handle, sql) == 1 else { throw lastFailure }
        try flush(limit)
        guard let begun = try nextResult(limit) else { throw lastFailure }
        guard begun.status == PGRES_COPY_OUT else {
            let failure = begun.failure ?? lastFailure
            try drain(limit)
            throw failure
        }
        while try copyRow(limit, body) {}
        try forEachResult(limit) { _ in }
    }

    /// Waits for a row; returns false if there are no more, or the server has failed, which its next result says.
    private func copyRow(
        _ limit: WaitLimit,
        _ body: (UnsafeRawBufferPointer) -> Void
    ) throws(PostgresFailure) -> Bool {
        while true {
            var row: UnsafeMutablePointer<CChar>?
            let count = PQgetCopyData(handle, &row, 1)
            switch count {
            case 0:
                try waitForSocket(reading: true, writing: false, limit)
                guard PQconsumeInput(handle) == 1 else { throw lastFailure }
            case -1: return false
            case ..<0: throw lastFailure
            default:
                body(UnsafeRawBufferPointer(start: row, count: Int(count)))
                PQfreemem(row)
                return true
            }
        }
    }

    private func drain(_ limit: WaitLimit) throws(PostgresFailure) {
        while let result = try nextResult(limit) {
            _ = result.status
        }
    }
}
