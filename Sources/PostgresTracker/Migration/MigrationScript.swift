/// What a run of the migrator would run on a database as it is: a script for `psql` that does the same.
public struct MigrationScript: Sendable, Hashable {
    private let schema: String
    private let migrations: [MigrationFrame]
    private let tables: [SchemaChanges.TableChange]

    init(schema: String, migrations: [MigrationFrame], tables: [SchemaChanges.TableChange]) {
        self.schema = schema
        self.migrations = migrations
        self.tables = tables
    }

    /// Whether there is nothing to do.
    public var isEmpty: Bool { migrations.isEmpty && tables.isEmpty }

    /// One line for people: `2 migrations and 3 tables to change; nothing was run`.
    public var summary: String {
        func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
        if isEmpty { return "nothing to do: the database is up to the plan" }
        return
            "\(count(migrations.count, "migration")) to apply and \(count(tables.count, "table")) to make or extend; "
            + "nothing was run"
    }

    /// The SQL, each migration and each table in a transaction of its own; a comment where there is nothing to do.
    public var text: String {
        if isEmpty { return "-- Nothing to do: the database is up to the plan." }
        let parts = migrations.map(Self.text) + note + tables.map(Self.text)
        return (["-- For the schema \(Self.inOneLine(schema))."] + parts).joined(separator: "\n\n")
    }

    private var note: [String] {
        guard !migrations.isEmpty, !tables.isEmpty else { return [] }
        return ["-- The tables below were compared with the database as it is, before the migrations above."]
    }

    private static func text(_ frame: MigrationFrame) -> String {
        let lines = frame.opening.map { $0 + ";" } + [terminated(frame.migration.sql)] + frame.closing.map { $0 + ";" }
        return (["-- \(inOneLine(frame.migration.name))"] + lines).joined(separator: "\n")
    }

    private static func text(_ change: SchemaChanges.TableChange) -> String {
        let head = "-- \(change.isNew ? "makes" : "extends") the table \(inOneLine(change.table))"
        return ([head] + change.transaction.map { $0 + ";" }).joined(separator: "\n")
    }

    /// A migration's text, which needs no semicolon behind its last statement where it is run by itself.
    private static func terminated(_ sql: String) -> String {
        let end = sql.lastIndex { !$0.isWhitespace }.map(sql.index(after:)) ?? sql.startIndex
        let text = sql[..<end]
        let lastLine = text.split(whereSeparator: \.isNewline).last ?? ""
        return text.hasSuffix(";") && !lastLine.contains("--") ? String(text) : text + "\n;"
    }

    /// A name as part of a comment.
    private static func inOneLine(_ name: String) -> String {
        name.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}
