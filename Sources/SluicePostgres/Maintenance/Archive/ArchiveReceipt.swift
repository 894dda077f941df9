import EventModel
import Hashing
import JSONTape

/// What is in a partition, or in its archive: enough to show that no row and no value is missing.
struct ArchiveReceipt {
    /// What is in a column.
    struct Column: Equatable {
        var nulls: Int64
        var least: String?
        var greatest: String?
        /// The sum of a column of integers or decimals.
        var sum: String?
    }

    /// Why a file is no receipt.
    struct Unreadable: Error, CustomStringConvertible {
        let description: String
    }

    var rows: Int64
    /// The SHA-256 digest of all ids, sorted, each as a line.
    var ids: String
    var columns: [String: Column] = [:]

    /// What of a receipt does not fit this one, without a value of a row; `nil` if everything fits.
    func difference(of other: ArchiveReceipt, in types: [ArchivedColumn]) -> String? {
        if rows != other.rows { return "the number of rows" }
        for type in types {
            let name = SQLText.identifier(type.name)
            guard let own = columns[type.name], let stated = other.columns[type.name] else {
                return "the column \(name)"
            }
            if own.nulls != stated.nulls { return "the number of NULLs in the column \(name)" }
            if !type.isSame(own.least, stated.least) { return "the minimum of the column \(name)" }
            if !type.isSame(own.greatest, stated.greatest) { return "the maximum of the column \(name)" }
            if own.sum != nil, !type.isSame(own.sum, stated.sum) { return "the sum of the column \(name)" }
        }
        return ids == other.ids ? nil : "the digest of the ids"
    }
}

// MARK: From a file

extension ArchiveReceipt {
    /// Reads what a program has written; members with other names are left to it.
    init(json: [UInt8]) throws(Unreadable) {
        guard case .object(let members) = JSONValue(json: json) else {
            throw Unreadable(description: "it is no JSON object")
        }
        guard case .integer(let rows) = members["rows"], case .string(let ids) = members["ids"],
            case .object(let columns) = members["columns"]
        else { throw Unreadable(description: "it lacks 'rows', 'ids' or 'columns'") }
        (self.rows, self.ids) = (rows, ids)
        for (name, value) in columns {
            guard case .object(let column) = value, case .integer(let nulls) = column["nulls"] else {
                throw Unreadable(description: "one of its columns lacks 'nulls'")
            }
            self.columns[name] = Column(
                nulls: nulls,
                least: try Self.text(column["min"]),
                greatest: try Self.text(column["max"]),
                sum: try Self.text(column["sum"])
            )
        }
    }

    private static func text(_ value: JSONValue?) throws(Unreadable) -> String? {
        switch value {
        case nil, .null: nil
        case .string(let text): text
        default: throw Unreadable(description: "'min', 'max' and 'sum' are not all texts")
        }
    }
}

// MARK: From the server

extension ArchiveReceipt {
    /// A statement cannot select more than 1,664 values.
    private static let columnsOfStatement = 400

    /// Computes the receipt of a table, which must not change meanwhile.
    init(
        of sqlName: String,
        _ types: [ArchivedColumn],
        over connection: PostgresConnection,
        _ limit: WaitLimit
    ) throws(PostgresFailure) {
        self.init(rows: 0, ids: try Self.digest(of: sqlName, over: connection, limit))
        for start in stride(from: 0, to: types.count, by: Self.columnsOfStatement) {
            let part = types[start..<min(start + Self.columnsOfStatement, types.count)]
            let list = (["count(*)"] + part.flatMap(\.expressions)).joined(separator: ", ")
            let rows = try connection.rows(of: "SELECT \(list) FROM \(sqlName)", parameters: [], limit)
            guard let values = rows.first, values.count == 1 + 4 * part.count else { continue }
            self.rows = Self.number(values[0])
            for (index, type) in part.enumerated() {
                let own = values[(1 + 4 * index)...].prefix(4).map { $0 }
                columns[type.name] = Column(nulls: Self.number(own[0]), least: own[1], greatest: own[2], sum: own[3])
            }
        }
    }

    private static func digest(
        of sqlName: String,
        over connection: PostgresConnection,
        _ limit: WaitLimit
    ) throws(PostgresFailure) -> String {
        var stream = SHA256Stream()
        try connection.copyOut("COPY (SELECT id FROM \(sqlName) ORDER BY id) TO STDOUT", limit) { stream.update($0) }
        return stream.finish().hexadecimal
    }

    /// A number that the server counted; -1, which fits nothing, if there is none.
    private static func number(_ text: String?) -> Int64 { text.flatMap { Int64($0) } ?? -1 }
}
