/// Where the events' tables are, and how long to wait for the server.
public struct PostgresConfiguration: Sendable {
    /// The tracker's default name.
    public static let defaultName = "postgres"
    /// The default schema of the events' tables.
    public static let defaultSchema = "analytics"

    /// A libpq URI (`postgres://…`) or keywords (`host=… dbname=…`).
    ///
    /// Anything that it does not set comes from libpq's environment variables and defaults. It can contain a password
    /// and is never logged.
    public var connection: String
    /// The password, in place of one in `connection`; `nil` for none of its own.
    ///
    /// It is never logged.
    public var password: String?
    /// Reads `connection` again before each attempt to connect, so that a change takes effect without a restart.
    ///
    /// Default: `nil`. If it throws, the attempt fails with the error's description, which must not contain a secret, and is made
    /// again.
    public var readConnection: (@Sendable () throws -> String)?
    /// Reads `password` again before each attempt to connect, as `readConnection` does.
    ///
    /// Default: `nil`.
    public var readPassword: (@Sendable () throws -> String)?
    /// The name that refers to the tracker in the plan.
    ///
    /// Default: `postgres`.
    ///
    /// List any other name under `postgresTrackers` in the plan, so that `sluice lint` and `sluice diff` know that its
    /// events have tables.
    public var name: String
    /// The schema of the events' tables.
    ///
    /// Default: `analytics`.
    public var schema: String
    /// How `PostgresMigrator` partitions a new table by the time of its events; existing tables stay as they are.
    ///
    /// Default: `month`.
    public var partitions: TablePartitioning
    /// The number of months before the present one whose events `sluice maintain` keeps in partitioned tables; it drops older ones.
    ///
    /// Default: `nil`, which keeps all.
    public var retentionMonths: Int?
    /// How `sluice maintain` archives a partition before it drops it.
    package var archive = ArchiveConfiguration()
    /// The timeout of one attempt to connect, over all addresses.
    ///
    /// Default: 10 s. A `connect_timeout` in `connection`, or libpq's environment variable for it, takes precedence.
    public var connectTimeout: Duration
    /// The timeout of one delivery, after which it is retried; also the server's timeout of each statement.
    ///
    /// A statement that loads all rows is undone after 4 s (or a quarter of this, if that is less; or `lockTimeout`, if that is more)
    /// and 1 s for each 2 MiB. Then the rows are loaded in parts, so that a table that does not answer holds up no other.
    ///
    /// It should be longer than `lockTimeout`.
    ///
    /// Default: 60 s.
    public var deliveryTimeout: Duration
    /// How long a statement waits for a lock on its table, so that the delivery's other tables have time left.
    ///
    /// Default: 2 s; at most a quarter of `deliveryTimeout` is used.
    public var lockTimeout: Duration
    /// Whether the tracker starts only if all of its tables accept rows.
    ///
    /// Default: `false`: a table that accepts no rows is logged, and the others get their rows.
    public var requiresEveryTable: Bool
    /// How long the claim of a partition waits for the transaction of the partition's earlier owner, and then for the end of the
    /// session that it terminates; for `sluice load`.
    ///
    /// Default: 5 s; at most half of `deliveryTimeout` is used.
    public var claimTimeout: Duration
    /// The maximum number of refused records that the database keeps for each partition; for `sluice load`.
    ///
    /// A transaction that would exceed it is rolled back; the loader retries it at least every 10 s.
    ///
    /// Default: 100,000.
    public var maximumRefused: Int
    /// How long refused records are kept; for `sluice load`.
    ///
    /// Expired records are removed when a partition of the loader is claimed, or another record of the same partition is refused.
    ///
    /// Default: 90 days.
    public var refusedRetention: Duration

    /// Creates a configuration.
    public init(
        connection: String,
        name: String = Self.defaultName,
        schema: String = Self.defaultSchema,
        partitions: TablePartitioning = .month,
        password: String? = nil,
        connectTimeout: Duration = .seconds(10),
        deliveryTimeout: Duration = .seconds(60),
        lockTimeout: Duration = .seconds(2),
        requiresEveryTable: Bool = false,
        claimTimeout: Duration = .seconds(5),
        maximumRefused: Int = 100_000,
        refusedRetention: Duration = .seconds(90 * 86_400)
    ) {
        self.connection = connection
        self.name = name
        self.schema = schema
        self.partitions = partitions
        self.password = password
        self.connectTimeout = connectTimeout
        self.deliveryTimeout = deliveryTimeout
        self.lockTimeout = lockTimeout
        self.requiresEveryTable = requiresEveryTable
        self.claimTimeout = claimTimeout
        self.maximumRefused = maximumRefused
        self.refusedRetention = refusedRetention
    }

    /// The configuration with the current connection string and password.
    ///
    /// - Throws: A failure of source `settings`, with the reason, if one of them cannot be read.
    func withCurrentSecrets() throws(PostgresFailure) -> PostgresConfiguration {
        var current = self
        do {
            if let readConnection { current.connection = try readConnection() }
            if let readPassword { current.password = try readPassword() }
        } catch {
            throw PostgresFailure(source: .settings, message: "\(error)")
        }
        return current
    }
}
