/// One row of the table: something Sluice does, compared with what the parts below it can do, where there are any.
protocol Row: Sendable {
    /// How `make bench ROW=` names it.
    var name: String { get }
    /// What is measured, for the reader of the table.
    var what: String { get }

    /// Measures all sides in turn, several times.
    func measure(at site: Site) throws -> Measurement
}

/// All rows, in the order of the table.
let allRows: [any Row] =
    TrackRow.all + [TrackJournalRow()] + CheckRow.all + [
        CodegenRow.generate,
        CodegenRow.debug,
        CodegenRow.release,
    ] + HTTPRow.all + [
        JournalReadRow(),
        JustTrackRow(),
        PostgresRow(),
        KafkaRow(),
        MemoryRow(),
        OutageRow(),
    ]
