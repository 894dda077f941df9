/// The files of SQL in this folder; a program that was installed has no folder to read them from.
package enum MigrationFiles {
    /// Their names and texts, in their order.
    ///
    /// SwiftPM names their bytes after the files, with `_` for what cannot stand in a name, such as a digit at its start.
    package static var all: [(name: String, sql: String)] {
        [
            ("0001_schema.sql", text(PackageResources._001_schema_sql)),
            ("0002_checkpoints.sql", text(PackageResources._002_checkpoints_sql)),
            ("0003_sessions.sql", text(PackageResources._003_sessions_sql)),
        ]
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
