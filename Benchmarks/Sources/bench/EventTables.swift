/// The tables of the plan's events in PostgreSQL.
enum EventTables {
    static let names = ["item_purchased", "item_returned"]
    /// The tables whose rows a replay and a server add, with the schema.
    static let filled = (names + ["_sluice_checkpoints"]).map { "analytics.\($0)" }

    /// Makes the tables in a schema as Sluice does, with partitions for the events of the benchmarks unless `partitions` is `none`.
    static func make(inSchema schema: String = "analytics", partitions: String = "month", at site: Site) throws {
        let environment = ["SLUICE_POSTGRES_PARTITIONS": partitions]
        let options = ["--postgres", site.postgres, "--schema", schema, "--events", site.plan]
        try Child.run(site.sluice, ["migrate"] + options, environment: environment)
        guard partitions != "none" else { return }
        try Child.run(site.sluice, ["maintain"] + options + ["--since", "2010-12"])
    }

    /// Removes all rows, and writes a checkpoint, so that none is due during the measurement.
    static func empty(_ tables: [String], at site: Site) throws {
        try sql(["truncate \(tables.joined(separator: ", "))", "checkpoint"], at: site)
    }

    /// Runs commands of psql, and returns what they print.
    @discardableResult
    static func sql(_ commands: [String], at site: Site) throws -> String {
        let arguments = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", site.postgres]
        return try Child.run("psql", arguments + commands.flatMap { ["-c", $0] })
    }
}
