extension PostgresConnection {
    /// Whether the server can compress values with lz4, which needs version 14 and a build with the library.
    func canCompressWithLZ4(_ limit: WaitLimit) throws(PostgresFailure) -> Bool {
        let query = "SELECT 'lz4' = ANY (enumvals) FROM pg_catalog.pg_settings WHERE name = 'default_toast_compression'"
        return try lastRows(of: query, limit).first?.first == "t"
    }
}
