/// A database's record of an applied migration.
package struct AppliedMigration: Sendable, Hashable {
    package let number: Int
    package let name: String
    package let sha256: String

    package init(number: Int, name: String, sha256: String) {
        self.number = number
        self.name = name
        self.sha256 = sha256
    }
}

/// Compares the available migrations with those that a database has applied.
package enum MigrationHistory {
    /// Why the two do not match; a sentence.
    package struct Mismatch: Error, Sendable, Hashable {
        package let message: String
    }

    /// Returns the migrations that are still to be applied, in their order.
    package static func pending(
        _ migrations: [Migration],
        after applied: [AppliedMigration]
    ) throws(Mismatch) -> [Migration] {
        let known = Dictionary(migrations.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        for past in applied {
            guard let migration = known[past.number] else {
                throw Mismatch(
                    message: "The database has had \(past.name), which is not at hand: is this an older version of it?"
                )
            }
            if migration.name != past.name {
                throw Mismatch(message: "\(migration.name) was applied under the name \(past.name); rename it back.")
            }
            if migration.sha256 != past.sha256 {
                throw Mismatch(
                    message:
                        "\(migration.name) was edited after it had been applied; undo that, and write a new migration."
                )
            }
        }
        let numbers = Set(applied.map(\.number))
        let latest = numbers.max() ?? 0
        let pending = migrations.filter { !numbers.contains($0.number) }.sorted { $0.number < $1.number }
        if let late = pending.first, late.number < latest {
            throw Mismatch(message: "\(late.name) comes before one that has been applied; give it a later number.")
        }
        return pending
    }
}
