import EventValidation

/// Encodes rows and sends them in parts; each part is encoded while the server reads the previous one.
final class RowSender {
    /// The size at which a part is sent: large enough to amortize the call, small enough for the processor's cache.
    private static let partBytes = 128 << 10

    private var encoder = CopyEncoder()
    private var buffer = CopyBuffer(capacity: 2 * partBytes)
    /// The events of this delivery that cannot be encoded as rows, by position, and why.
    private(set) var defects: [Int: RowDefect] = [:]

    /// Removes the defects of the previous delivery.
    func reset() {
        defects.removeAll()
    }

    /// Sends rows with a COPY statement of the target and returns how many the server accepted.
    ///
    /// Before the first row, it compares the types that the statement has read under the lock of the event's table. So the lock has
    /// to be held since then, and with it the types, until the transaction ends.
    func send(
        _ positions: ArraySlice<Int>,
        of rows: DeliveryRows,
        to target: LoadTarget,
        by statement: String,
        over connection: PostgresConnection,
        _ limit: WaitLimit
    ) throws(PostgresFailure) -> Int {
        let types = try connection.beginCopy(statement, limit)
        if let failure = target.mismatch(with: types) {
            try connection.abandonCopy(limit)
            throw failure
        }
        buffer.truncate(to: 0)
        buffer.append(CopyEncoder.header)
        for position in positions {
            let (batch, index) = rows.event(at: position)
            do {
                try encoder.append(batch.line(at: index), batch.entries[index], target.layout, to: &buffer)
            } catch {
                defects[position] = error
            }
            if buffer.count >= Self.partBytes {
                try connection.sendCopy(buffer.bytes, limit)
                buffer.truncate(to: 0)
            }
        }
        buffer.append(CopyEncoder.trailer)
        try connection.sendCopy(buffer.bytes, limit)
        return try connection.endCopy(limit)
    }
}
