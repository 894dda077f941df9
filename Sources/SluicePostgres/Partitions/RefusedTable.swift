import EventModel
import TrackerKit

/// The table that stores refused records (the dead-letter queue of a loader), and the statements for it.
struct RefusedTable: Sendable {
    /// The size at which an INSERT statement ends.
    private static let statementBytes = 1 << 20
    /// The size of the values at which a page ends.
    private static let pageBytes = 8 << 20
    /// The maximum number of expired records that one statement removes, so that it ends in time however many there are.
    private static let expiredInStatement = 1_000
    /// The columns that identify a record within a tracker.
    private static let key = "loader, cluster, topic, partition, record_offset"

    let offsets: OffsetTable
    let maximumCount: Int
    let retention: Duration

    init(_ configuration: PostgresConfiguration) {
        offsets = OffsetTable(configuration)
        maximumCount = configuration.maximumRefused
        retention = configuration.refusedRetention
    }

    private var sqlName: String { LoaderTable.refused.sqlName(in: offsets.schema) }
    private var tracker: String { SQLText.literal(offsets.tracker) }

    private var isExpired: String {
        "refused_at < now() - interval '\(max(0, retention.components.seconds)) seconds'"
    }

    /// Removes expired records of a partition, up to a limit, except those that another transaction is about to change.
    ///
    /// `count` is the number of records that are about to be stored. The limit is raised by this number, so that the table shrinks.
    func removeExpired(of partition: LoadedPartition, storing count: Int) -> String {
        removeExpired(offsets.isRow(of: partition), limit: count + Self.expiredInStatement)
    }

    /// Removes expired records of all partitions of a loader, up to a limit.
    func removeExpired(ofLoader loader: String) -> String {
        removeExpired(isOf(loader), limit: Self.expiredInStatement)
    }

    private func removeExpired(_ condition: String, limit: Int) -> String {
        """
        DELETE FROM \(sqlName) WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM \(sqlName) WHERE \(condition) AND \(isExpired)
            LIMIT \(limit) FOR UPDATE SKIP LOCKED))
        """
    }

    /// Removes from `records` as many as one statement takes, and returns the statement that stores them and a SELECT of how many
    /// records the partition then has, without those that have expired.
    ///
    /// A record replaces the one at the same offset: either the same record is refused again after the position was set back, or the
    /// topic was recreated and the offset belongs to another record.
    func storeAndCount(_ records: inout ArraySlice<RefusedRecord>, of partition: LoadedPartition) -> String {
        let key = offsets.key(of: partition)
        var text = """
            INSERT INTO \(sqlName) (\(LoaderTable.keyColumns.joined(separator: ", ")), record_offset, key, value, headers,
                verdict, refused_at) VALUES
            """
        var separator = " "
        while text.utf8.count < Self.statementBytes, let refused = records.popFirst() {
            let record = refused.record
            text += separator + "(\(key), \(record.offset), \(bytea(record.key)), \(bytea(record.value)), "
            text += "\(SQLText.literal(StorableJSON.headers(record.headers))), "
            text += "\(SQLText.literal(StorableJSON.text(refused.verdict))), now())"
            separator = ",\n"
        }
        return text + """
             ON CONFLICT (\(LoaderTable.keyColumns.joined(separator: ", ")), record_offset) DO UPDATE SET
                key = EXCLUDED.key, value = EXCLUDED.value, headers = EXCLUDED.headers, verdict = EXCLUDED.verdict,
                refused_at = EXCLUDED.refused_at;
            SELECT count(*) FROM \(sqlName) WHERE \(offsets.isRow(of: partition)) AND NOT \(isExpired)
            """
    }

    /// Selects the records after a key, in the order of keys: at most `limit`, and no more after those whose values exceed the size
    /// of a page.
    func page(ofLoader loader: String?, after key: RefusedRecordKey?, limit: Int) -> String {
        var condition = isOf(loader)
        if let key { condition += " AND (\(Self.key)) > (\(text(of: key)))" }
        return """
            SELECT \(Self.key), encode(key, 'hex'), encode(value, 'hex'),
                (SELECT string_agg(encode(convert_to(item->>'name', 'UTF8'), 'hex') || ':'
                        || encode(convert_to(item->>'value', 'UTF8'), 'hex'), ' ' ORDER BY number)
                    FROM jsonb_array_elements(headers) WITH ORDINALITY h (item, number)),
                verdict, (extract(epoch FROM refused_at) * 1000000)::bigint
            FROM (SELECT *, sum(octet_length(value)) OVER (ORDER BY \(Self.key)
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) earlier_bytes
                FROM (SELECT * FROM \(sqlName) WHERE \(condition) ORDER BY \(Self.key) LIMIT \(limit)) records) page
            WHERE coalesce(earlier_bytes, 0) <= \(Self.pageBytes) ORDER BY \(Self.key)
            """
    }

    /// Selects the loader and the cluster of the records, without duplicates.
    func origins(ofLoader loader: String?) -> String {
        "SELECT DISTINCT loader, cluster FROM \(sqlName) WHERE \(isOf(loader))"
    }

    private func isOf(_ loader: String?) -> String {
        "tracker = \(tracker)" + (loader.map { " AND loader = \(SQLText.literal($0))" } ?? "")
    }

    /// Removes records.
    func remove(_ keys: some Collection<RefusedRecordKey>) -> String {
        let list = keys.map { "(\(text(of: $0)))" }.joined(separator: ", ")
        return "DELETE FROM \(sqlName) WHERE tracker = \(tracker) AND (\(Self.key)) IN (\(list))"
    }

    private func text(of key: RefusedRecordKey) -> String {
        let names = [key.partition.loader, key.partition.cluster, key.partition.topic].map(SQLText.literal)
        return "\(names.joined(separator: ", ")), \(key.partition.number), \(key.offset)"
    }

    private func bytea(_ bytes: [UInt8]?) -> String {
        bytes.map { "'\\x\(Hexadecimal.text(of: $0))'" } ?? "NULL"
    }
}

extension StoredRefusal {
    /// Creates it from a row that `RefusedTable` selects.
    init?(_ row: [String?]) {
        guard row.count == 10, let loader = row[0], let cluster = row[1], let topic = row[2],
            let number = row[3].flatMap({ Int32($0) }), let offset = row[4].flatMap({ Int64($0) })
        else { return nil }
        let headers = (row[7] ?? "").split(separator: " ").map { pair in
            let parts = pair.split(separator: ":", omittingEmptySubsequences: false).map(Hexadecimal.bytes)
            return SourceRecord.Header(
                name: String(decoding: parts.first ?? [], as: UTF8.self),
                value: parts.count > 1 ? parts[1] : []
            )
        }
        self.init(
            key: RefusedRecordKey(
                partition: LoadedPartition(loader: loader, cluster: cluster, topic: topic, number: number),
                offset: offset
            ),
            refused: RefusedRecord(
                record: SourceRecord(
                    offset: offset,
                    key: row[5].map { Hexadecimal.bytes(of: $0[...]) },
                    value: row[6].map { Hexadecimal.bytes(of: $0[...]) },
                    headers: headers
                ),
                verdict: row[8] ?? "{}"
            ),
            time: Timestamp(microseconds: row[9].flatMap { Int64($0) } ?? 0, fractionDigits: 6)
        )
    }
}

/// Bytes as pairs of hexadecimal digits, as in the server's text format of `bytea`.
enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    static func text(of bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
            for (index, byte) in bytes.enumerated() {
                buffer[2 * index] = digits[Int(byte >> 4)]
                buffer[2 * index + 1] = digits[Int(byte & 15)]
            }
            return bytes.count * 2
        }
    }

    static func bytes(of text: Substring) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        for digit in text.utf8 {
            let value = digit <= UInt8(ascii: "9") ? digit &- UInt8(ascii: "0") : digit &- UInt8(ascii: "a") &+ 10
            if let first = high {
                bytes.append(first << 4 | value & 15)
                high = nil
            } else {
                high = value & 15
            }
        }
        return bytes
    }
}
