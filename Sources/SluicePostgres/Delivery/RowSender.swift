import EventValidation

/// Encodes rows and sends them, a part at a time, while the server takes the part before.
final class RowSender {
    /// When a part is full: large enough that a call costs nothing, small enough to stay in the processor's cache.
    private static let partBytes = 128 << 10

    private var encoder = CopyEncoder()
    private var buffer = CopyBuffer(capacity: 2 * partBytes)
    /// The events of this delivery that no row can be made of, by position, and why.
    private(set) var defects: [Int: RowDefect] = [:]

    /// Forgets the defects of the delivery before.
    func reset() {
        defects.removeAll()
    }

    /// Sends rows by a COPY statement and returns how many the server took.
    func send(
        _ positions: ArraySlice<Int>,
        of rows: DeliveryRows,
        _ layout: RowLayout,
        by statement: String,
        over connection: PostgresConnection,
        _ limit: WaitLimit
    ) throws(PostgresFailure) -> Int {
        try connection.beginCopy(statement, limit)
        buffer.truncate(to: 0)
        buffer.append(CopyEncoder.header)
        for position in positions {
            let (batch, index) = rows.event(at: position)
            do {
                try encoder.append(batch.line(at: index), batch.entries[index], layout, to: &buffer)
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
