/// One step in the history of a database: a file of SQL that is applied once and never edited after.
public struct Migration: Sendable, Hashable {
    /// Its place in the order, from 1.
    public let number: Int
    /// The file's name: `0001_schema.sql`.
    public let name: String
    /// Its statements; they run in one transaction, with the events' schema first on `search_path` and its name in the
    /// setting `sluice.schema`.
    public let sql: String

    /// Takes a file's name and text; `nil` where the name is not four digits, an underscore, words and `.sql`.
    public init?(name: String, sql: String) {
        let parts = name.split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false)
        guard
            parts.count == 2, parts[0].utf8.count == 4, name.hasSuffix(".sql"), parts[1].utf8.count > ".sql".utf8.count,
            parts[0].utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
            let number = Int(parts[0]), number > 0
        else { return nil }
        self.number = number
        self.name = name
        self.sql = sql
    }
}
