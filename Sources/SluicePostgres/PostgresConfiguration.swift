/// Where the events' tables are, and how long to wait for them.
public struct PostgresConfiguration: Sendable {
    /// The tracker's default name.
    public static let defaultName = "postgres"
    /// The default schema of the events' tables.
    public static let defaultSchema = "analytics"

    /// A libpq URI (`postgres://…`) or keywords (`host=… dbname=…`).
    ///
    /// What it leaves out comes from libpq's environment variables and defaults. It can hold a password, and is never
    /// logged.
    public var connection: String
    /// The name by which the plan's events name the tracker.
    ///
    /// Default: `postgres`.
    ///
    /// The plan names another one in its `postgresTrackers`, so that `sluice lint` and `sluice diff` know that its events
    /// have tables.
    public var name: String
    /// The schema of the events' tables.
    ///
    /// Default: `analytics`.
    public var schema: String
    /// How long one delivery may take before it is given up and tried again.
    ///
    /// Default: 60 s.
    public var deliveryTimeout: Duration
    /// Whether the tracker starts only if all of its tables accept rows.
    ///
    /// Default: `false`. Then one broken table is logged, and the others get their rows.
    public var requiresEveryTable: Bool

    /// Takes the connection, and the defaults or what is stated instead.
    public init(
        connection: String,
        name: String = Self.defaultName,
        schema: String = Self.defaultSchema,
        deliveryTimeout: Duration = .seconds(60),
        requiresEveryTable: Bool = false
    ) {
        self.connection = connection
        self.name = name
        self.schema = schema
        self.deliveryTimeout = deliveryTimeout
        self.requiresEveryTable = requiresEveryTable
    }
}
