/// The SQL files in this folder, compiled in, because an installed program does not have the folder.
package enum MigrationFiles {
    /// The files' names and texts, in their order.
    ///
    /// SwiftPM names the constants after the files, and replaces characters that an identifier cannot have, such as a leading
    /// digit, with `_`.
    package static var all: [(name: String, sql: String)] {
        [
            ("0001_schema.sql", text(PackageResources._001_schema_sql)),
            ("0002_checkpoints.sql", text(PackageResources._002_checkpoints_sql)),
            ("0003_sessions.sql", text(PackageResources._003_sessions_sql)),
            ("0004_loader.sql", text(PackageResources._004_loader_sql)),
            ("0005_event_time.sql", text(PackageResources._005_event_time_sql)),
            ("0006_recent_ids.sql", text(PackageResources._006_recent_ids_sql)),
            ("0007_forgotten.sql", text(PackageResources._007_forgotten_sql)),
        ]
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
