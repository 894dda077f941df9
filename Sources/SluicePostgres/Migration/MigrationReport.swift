/// What a run of the migrator did.
public struct MigrationReport: Sendable, Hashable {
    /// The names of the migrations it applied.
    public var migrations: [String] = []
    /// The tables it made.
    public var createdTables: [String] = []
    /// The tables it gave more columns or other comments.
    public var extendedTables: [String] = []

    /// Whether there was nothing to do.
    public var isEmpty: Bool { migrations.isEmpty && createdTables.isEmpty && extendedTables.isEmpty }
}
