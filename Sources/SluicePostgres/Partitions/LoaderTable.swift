/// A table in which a loader stores what belongs to partitions, and what its role needs there.
struct LoaderTable: Sendable {
    let name: String
    /// The columns that the statements use.
    let columns: Set<String>
    let privileges: [String]

    /// The columns that identify a partition, which all tables have.
    static let keyColumns = ["loader", "tracker", "cluster", "topic", "partition"]

    static let offsets = LoaderTable(
        name: "_sluice_loader_offsets",
        columns: [
            "next_offset", "epoch", "last_record", "owner", "backend_pid", "backend_start", "updated_at",
        ],
        privileges: ["SELECT", "INSERT", "UPDATE"]
    )
    static let refused = LoaderTable(
        name: "_sluice_refused",
        columns: ["record_offset", "key", "value", "headers", "verdict", "refused_at"],
        privileges: ["SELECT", "INSERT", "UPDATE", "DELETE"]
    )
    static let losses = LoaderTable(
        name: "_sluice_accepted_losses",
        columns: ["first_offset", "next_offset", "reason", "accepted_at"],
        privileges: ["INSERT"]
    )
    static let all = [offsets, refused, losses]

    private init(name: String, columns: Set<String>, privileges: [String]) {
        self.name = name
        self.columns = columns.union(Self.keyColumns)
        self.privileges = privileges
    }

    /// The schema and the table's name, quoted.
    func sqlName(in schema: String) -> String {
        SQLText.identifier(schema) + "." + SQLText.identifier(name)
    }
}

/// What a role needs of the loader's tables for one purpose.
struct LoaderTableAccess: Sendable {
    /// What the role may do, as in "The role may not …".
    let purpose: String
    /// The tables that the statements use; an error that names no table is attributed to the first one.
    private let needs: [(table: LoaderTable, privileges: [String])]

    static let loading = loading(into: LoaderTable.all)
    static let readingOffsets = LoaderTableAccess(
        purpose: "read offsets and count refused records",
        needs: [(.offsets, ["SELECT"]), (.refused, ["SELECT"])]
    )
    static let readingRefused = LoaderTableAccess(purpose: "read refused records", needs: [(.refused, ["SELECT"])])
    static let removingRefused = LoaderTableAccess(
        purpose: "remove refused records",
        needs: [(.refused, ["SELECT", "DELETE"])]
    )

    /// Everything that loading needs of some tables.
    static func loading(into tables: [LoaderTable]) -> LoaderTableAccess {
        LoaderTableAccess(
            purpose: "store offsets and refused records",
            needs: tables.map { ($0, $0.privileges) }
        )
    }

    /// The table that the server's message names, and otherwise the first one.
    func table(in message: String) -> LoaderTable {
        (needs.first { message.contains($0.table.name) } ?? needs[0]).table
    }

    /// The privileges on each table, as in a GRANT.
    func grants(in schema: String) -> [String] {
        needs.map { "\($0.privileges.joined(separator: ", ")) ON \($0.table.sqlName(in: schema))" }
    }
}
