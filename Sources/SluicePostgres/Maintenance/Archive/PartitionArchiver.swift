import EventModel
import TrackerKit

/// How partitions are archived before they are dropped.
package struct ArchiveConfiguration: Sendable {
    /// The program and its arguments; none archives nothing.
    package var command: [String] = []
    /// The folder of all archives.
    package var folder = ""
    /// How long the program may take for a partition.
    package var timeout = Duration.seconds(6 * 3600)
}

/// A table that was a partition, whose events have all expired.
struct ExpiredPartition {
    let schema: String
    let name: String
    let comment: String

    /// The schema and the name, quoted.
    var sqlName: String { SQLText.identifier(schema) + "." + SQLText.identifier(name) }

    /// The sentence in the comment that states the bounds, which the table does not have any more.
    static func bounds(of partition: PartitionedTable.Partition) -> String {
        let start = partition.start.map { "\(Timestamp(bound: $0))" } ?? "-infinity"
        let end = partition.end.map { "\(Timestamp(bound: $0))" } ?? "infinity"
        return "Its events are from \(start) to \(end)."
    }

    /// The bounds that the comment states; `nil` if it states none.
    var bounds: (start: String, end: String)? {
        comment.firstMatch(of: /Its events are from (\S+) to (\S+)\./).map { (String($0.1), String($0.2)) }
    }
}

/// Lets a program archive a partition, and lets it be dropped only if the program's receipt fits the rows.
struct PartitionArchiver {
    let run: MaintenanceRun
    let programs: any ProgramRunner
    let expired: ExpiredPartition
    /// The table that the partition belonged to.
    let table: PartitionedTable

    private var configuration: ArchiveConfiguration { run.configuration.archive }
    private var folder: PartitionFolder {
        PartitionFolder(
            in: configuration.folder,
            table: table.name,
            schema: expired.schema,
            partition: expired.name
        )
    }

    /// Archives the partition and drops it; returns what was done.
    ///
    /// - Throws: Why the partition was not archived, and is there still.
    func archiveAndDrop() throws -> [String] {
        do {
            return try dropOnceArchived()
        } catch let error as TrackerError {
            throw TrackerError.notArchived(expired, because: error)
        }
    }

    private func dropOnceArchived() throws -> [String] {
        let complete = folder.completeReceipts()
        // An earlier run has archived it, and was interrupted, or another session kept the table from being dropped.
        if !complete.isEmpty,
            try drop(if: { own, types in complete.contains { own.difference(of: $0, in: types) == nil } })
        {
            return ["removed \(expired.name), which was archived before"]
        }
        try folder.makeDraft()
        try programs.run(
            ProgramRun(
                command: configuration.command,
                environment: environment,
                tracker: run.configuration.name,
                timeout: min(configuration.timeout, run.limit.remaining)
            ),
            run.limit.interrupt
        )
        let stated = try folder.receipt()
        var place = ""
        _ = try drop { own, types in
            if let difference = own.difference(of: stated, in: types) {
                throw TrackerError(
                    code: .failed,
                    message: "The receipt in \(folder.draft) does not fit the rows: \(difference) differs.",
                    isRetryable: false
                )
            }
            place = try folder.complete()
            return true
        }
        return ["archived \(expired.name) in \(place)", "removed \(expired.name)"]
    }

    /// The connection, as libpq reads it, and what to archive where.
    private var environment: [String] {
        let bounds = expired.bounds
        return run.connection.environment + [
            "SLUICE_ARCHIVE_SCHEMA=\(table.schema)", "SLUICE_ARCHIVE_TABLE=\(table.name)",
            "SLUICE_ARCHIVE_PARTITION=\(expired.sqlName)", "SLUICE_ARCHIVE_FROM=\(bounds?.start ?? "-infinity")",
            "SLUICE_ARCHIVE_TO=\(bounds?.end ?? "infinity")", "SLUICE_ARCHIVE_FOLDER=\(folder.draft)",
        ]
    }

    /// Drops the partition if what the server computes is confirmed; nobody can change a row in between.
    private func drop(if isConfirmed: (ArchiveReceipt, [ArchivedColumn]) throws -> Bool) throws -> Bool {
        let (connection, limit) = (run.connection, run.limit)
        do {
            var own = ArchiveReceipt(rows: 0, ids: "")
            var types: [ArchivedColumn] = []
            try run.step("The rows of \(expired.sqlName) were not summarized") { run throws(PostgresFailure) in
                // Sessions may read it meanwhile, as a backup does.
                try run.patiently { "BEGIN; LOCK TABLE \(expired.sqlName) IN SHARE MODE" }
                types = try ArchivedColumn.read(of: expired.sqlName, over: connection, limit)
                own = try ArchiveReceipt(of: expired.sqlName, types, over: connection, limit)
            }
            guard try isConfirmed(own, types) else {
                try connection.execute("ROLLBACK", limit)
                return false
            }
            try run.step("The expired table \(expired.sqlName) was not dropped") { run throws(PostgresFailure) in
                try connection.execute("SAVEPOINT archived", limit)
                // What was summarized stays locked.
                try PatientChange(connection: connection, limit: limit, undo: "ROLLBACK TO SAVEPOINT archived")
                    .run("DROP TABLE \(expired.sqlName)")
                try connection.execute("COMMIT", limit)
            }
            return true
        } catch let error as TrackerError {
            if !connection.isIdle { try connection.execute("ROLLBACK", limit) }
            throw error
        }
    }
}

extension TrackerError {
    /// An expired partition was not archived, for a reason.
    static func notArchived(_ expired: ExpiredPartition, because error: TrackerError) -> TrackerError {
        TrackerError(
            code: error.code,
            message: """
                The expired table \(expired.sqlName) was not archived, and keeps its rows; the next `sluice maintain` tries it again. \
                \(error.message)
                """,
            isRetryable: error.isRetryable,
            underlying: error.underlying
        )
    }
}
