/// One row of the table: something Sluice does, measured against what the parts below it can do.
protocol Row: Sendable {
    /// How `make bench ROW=` names it.
    var name: String { get }
    /// What is measured, for the reader of the table.
    var what: String { get }

    /// Measures both sides in turn, several times.
    func measure(at site: Site) throws -> Measurement
}

/// All rows, in the order of the table.
let allRows: [any Row] =
    TrackRow.all + [
        CheckRow(),
        CodegenRow.generate,
        CodegenRow.debug,
        CodegenRow.release,
        HTTPRow.single("http-single", target: 0.6),
        HTTPRow.batch("http-batch", target: 0.2),
        HTTPRow.single("durable-single", target: 0.5, isDurable: true),
        HTTPRow.batch("durable-batch", target: 0.18, isDurable: true),
        HTTPRow.single("sync-single", target: 0.75, isDurable: true, ceiling: .unsynced),
        HTTPRow.batch("sync-batch", target: 0.75, isDurable: true, ceiling: .unsynced),
        JournalReadRow(),
        JustTrackRow(),
        PostgresRow(),
        KafkaRow(),
        MemoryRow(),
        OutageRow(),
    ]
