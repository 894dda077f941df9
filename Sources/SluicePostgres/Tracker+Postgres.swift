public import Logging
public import TrackerKit

extension Tracker where Self == PostgresTracker {
    /// A tracker that loads events into the tables that `sluice migrate` makes.
    ///
    /// - Parameters:
    ///   - connection: A libpq URI (`postgres://…`) or keywords (`host=… dbname=…`).
    ///   - name: The name by which the plan's events name it. Default: `postgres`.
    ///   - schema: The schema of the tables. Default: `analytics`.
    ///   - logger: Where the tracker's log goes.
    public static func postgres(
        _ connection: String,
        name: String = PostgresConfiguration.defaultName,
        schema: String = PostgresConfiguration.defaultSchema,
        logger: Logger = Logger(label: "sluice")
    ) -> PostgresTracker {
        PostgresTracker(PostgresConfiguration(connection: connection, name: name, schema: schema), logger: logger)
    }
}
