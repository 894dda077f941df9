/// A row of the table: a task of Sluice's, compared with references if there are any.
protocol Row: Sendable {
    /// The name for `make bench ROW=`.
    var name: String { get }
    /// What is measured, as shown in the table.
    var what: String { get }

    /// Measures all sides in turn, several times.
    func measure(at site: Site) throws -> Measurement
}

/// All rows, in the order of the table.
let allRows: [any Row] =
    TrackRow.all + TrackJournalRow.all + CheckRow.all + [SegmentRow()] + [
        CodegenRow.generate,
        CodegenRow.debug,
        CodegenRow.release,
    ] + HTTPRow.all + [
        MixedRow()
    ] + CountsRow.all + LatencyRow.all + RsyslogRow.all + [
        JournalReadRow(),
        JustTrackRow(),
        CopyRow(),
        PostgresRow(),
    ] + TableRow.all + [
        LoadRow(),
        LoadRow(processes: 2),
        LoadRow(processes: 4),
        KafkaRow(),
        RelayRow(),
    ] + RelayAcknowledgeRow.all + [
        ExecRow(),
        WebhookRow(),
    ] + FileRow.all + [
        MemoryRow(),
        OutageRow(),
        MissingMonthRow(),
    ]
