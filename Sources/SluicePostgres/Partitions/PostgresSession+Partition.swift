import Logging
import TrackerKit

extension PostgresSession {
    /// How often a claim or a renewal waits for the owner's transaction and terminates the owner's session.
    private static let maximumRounds = 3

    /// How long a claim or a renewal waits for the owner's transaction, and then for the end of its session.
    private nonisolated var claimTimeout: Duration {
        min(configuration.claimTimeout, configuration.deliveryTimeout / 2)
    }

    /// Takes a partition over from its owner, whose session is terminated if its transaction does not end in time.
    func claim(
        _ partition: LoadedPartition,
        start: Int64,
        owner: String,
        _ interrupt: Interrupt
    ) throws(TrackerError) -> PartitionClaim {
        if let problem = try withLoaderTables(.loading, interrupt, encodingProblem) { throw problem }
        removeExpired(ofLoader: partition.loader, interrupt)
        let claim = try take(partition, ownedUnder: nil, interrupt) { isPooled in
            offsets.claim(partition, start: start, owner: owner, isPooled: isPooled, lockTimeout: claimTimeout)
        }
        guard let claim else { throw .unreadable(LoaderTable.offsets.sqlName(in: offsets.schema)) }
        return claim
    }

    /// Removes expired refused records of all partitions, because a partition that refuses nothing more would keep its own.
    ///
    /// The claim does not depend on it, because the next claim removes the rest; the claim comes afterwards, because a failure may
    /// close the connection.
    private func removeExpired(ofLoader loader: String, _ interrupt: Interrupt) {
        do throws(PostgresFailure) {
            try withConnection(interrupt, timeout: configuration.deliveryTimeout) {
                connection,
                limit throws(PostgresFailure) in
                _ = try connection.execute(refusedTable.removeExpired(ofLoader: loader), limit)
            }
        } catch {
            logger.debug(
                "Expired refused records were not removed; the next claim tries again.",
                metadata: ["tracker": "\(configuration.name)", "error": "\(loaderTableError(error, .loading))"]
            )
        }
    }

    /// Reads the position if the epoch is still the same, once the transaction of this process's earlier session has ended.
    func renew(
        _ partition: LoadedPartition,
        epoch: Int64,
        _ interrupt: Interrupt
    ) throws(TrackerError) -> PartitionClaim? {
        try take(partition, ownedUnder: epoch, interrupt) { isPooled in
            offsets.renew(partition, epoch: epoch, isPooled: isPooled, lockTimeout: claimTimeout)
        }
    }

    /// Records that somebody has accepted the loss of records.
    func accept(
        _ loss: AcceptedLoss,
        of partition: LoadedPartition,
        epoch: Int64,
        _ interrupt: Interrupt
    ) throws(TrackerError) -> Bool {
        try withLoaderTables(.loading, interrupt) { connection, limit throws(PostgresFailure) in
            try connection.execute(offsets.accept(loss, of: partition, epoch: epoch), limit) == 1
        }
    }

    /// The partitions of a loader.
    func partitions(ofLoader loader: String, _ interrupt: Interrupt) throws(TrackerError) -> [LoadedPartitionStatus] {
        let rows = try withLoaderTables(.readingOffsets, interrupt) { connection, limit throws(PostgresFailure) in
            try connection.lastRows(of: offsets.partitions(ofLoader: loader), limit)
        }
        return rows.compactMap { row in
            guard row.count == 10, let cluster = row[0], let topic = row[1], let number = row[2].flatMap({ Int32($0) }),
                let claim = PartitionClaim(columns: row[5...])
            else { return nil }
            return LoadedPartitionStatus(
                partition: LoadedPartition(loader: loader, cluster: cluster, topic: topic, number: number),
                claim: claim,
                owner: row[3] ?? "",
                refused: row[4].flatMap { Int($0) } ?? 0
            )
        }
    }

    /// The refused records after a key, in the order of keys.
    func refusals(
        ofLoader loader: String?,
        after key: RefusedRecordKey?,
        limit count: Int,
        _ interrupt: Interrupt
    ) throws(TrackerError) -> [StoredRefusal] {
        try withLoaderTables(.readingRefused, interrupt) { connection, limit throws(PostgresFailure) in
            try connection.lastRows(of: refusedTable.page(ofLoader: loader, after: key, limit: count), limit)
        }.compactMap(StoredRefusal.init)
    }

    /// The loaders and clusters of the refused records.
    func refusalOrigins(
        ofLoader loader: String?,
        _ interrupt: Interrupt
    ) throws(TrackerError) -> [RefusedRecordOrigin] {
        try withLoaderTables(.readingRefused, interrupt) { connection, limit throws(PostgresFailure) in
            try connection.lastRows(of: refusedTable.origins(ofLoader: loader), limit)
        }.compactMap { row in
            guard row.count == 2, let loader = row[0], let cluster = row[1] else { return nil }
            return RefusedRecordOrigin(loader: loader, cluster: cluster)
        }
    }

    /// Removes refused records, and returns how many there were.
    func removeRefusals(_ keys: [RefusedRecordKey], _ interrupt: Interrupt) throws(TrackerError) -> Int {
        var removed = 0
        var rest = keys[...]
        while !rest.isEmpty {
            let part = rest.prefix(1000)
            rest = rest.dropFirst(part.count)
            removed += try withLoaderTables(.removingRefused, interrupt) { connection, limit throws(PostgresFailure) in
                try connection.execute(refusedTable.remove(part), limit)
            }
        }
        return removed
    }

    /// The problem if the database cannot store every character: one that is missing would fail its whole batch each time.
    private func encodingProblem(_ connection: PostgresConnection, _ limit: WaitLimit) -> TrackerError? {
        connection.databaseEncoding == "UTF8" ? nil : .wrongEncoding(connection.databaseEncoding)
    }

    /// What prevents positions and refused records from being stored.
    func partitionProblems(
        in present: PresentSchema,
        _ interrupt: Interrupt
    ) throws(PostgresFailure) -> [TrackerError] {
        let encoding = try withConnection(interrupt, timeout: configuration.deliveryTimeout, encodingProblem)
        return try [encoding].compactMap(\.self) + tableProblems(in: present, interrupt)
    }

    private func tableProblems(
        in present: PresentSchema,
        _ interrupt: Interrupt
    ) throws(PostgresFailure) -> [TrackerError] {
        let problems = LoaderTable.all.compactMap { table -> TrackerError? in
            let name = table.sqlName(in: offsets.schema)
            guard let existing = present.tables[table.name] else { return .missing(table: name) }
            return Set(existing.columns.map(\.name)).isSuperset(of: table.columns) ? nil : .outdated(table: name)
        }
        guard problems.isEmpty else { return problems }
        let names = try withConnection(interrupt, timeout: configuration.deliveryTimeout) {
            connection,
            limit throws(PostgresFailure) in
            try connection.lastRows(of: offsets.tablesWithoutPrivilege, limit).compactMap { $0.first ?? nil }
        }
        guard names.isEmpty else {
            let tables = LoaderTable.all.filter { names.contains($0.name) }
            return tables.map { missingPrivilege(for: .loading(into: [$0])) }
        }
        let canTerminate = try withConnection(interrupt, timeout: configuration.deliveryTimeout) {
            connection,
            limit throws(PostgresFailure) in
            try !connection.lastRows(of: OffsetTable.terminatingFunction, limit).isEmpty
        }
        guard canTerminate else { return [.outdatedServer()] }
        let isBeyondReach = try withConnection(interrupt, timeout: configuration.deliveryTimeout) {
            connection,
            limit throws(PostgresFailure) in
            try !connection.lastRows(of: offsets.ownersBeyondReach, limit).isEmpty
        }
        guard isBeyondReach else { return [] }
        let role = SQLText.identifier(role)
        return [
            .missingPrivilege(
                "The role \(role) may not terminate the sessions of loaders that have another role",
                grant: "pg_signal_backend, pg_read_all_stats TO \(role)"
            )
        ]
    }

    /// Runs a statement that takes the partition's row, and ends the owner's session while another transaction holds the row.
    ///
    /// With an epoch, only a session of its owner is ended, which is an earlier one of this process.
    private func take(
        _ partition: LoadedPartition,
        ownedUnder epoch: Int64?,
        _ interrupt: Interrupt,
        _ statement: (_ isPooled: Bool) -> String
    ) throws(TrackerError) -> PartitionClaim? {
        for _ in 0..<Self.maximumRounds {
            do throws(PostgresFailure) {
                return try withConnection(interrupt, timeout: configuration.deliveryTimeout) {
                    connection,
                    limit throws(PostgresFailure) in
                    claimedPartitions.remove(partition)
                    let row = try connection.lastRows(of: statement(connection.isPooled), limit).first
                    if row != nil { claimedPartitions.insert(partition) }
                    return row.flatMap { PartitionClaim(columns: $0[...]) }
                }
            } catch {
                guard PostgresErrorClass(error) == .locked else { throw loaderTableError(error, .loading) }
            }
            try endOwner(of: partition, ownedUnder: epoch, interrupt)  // guard: termination
        }
        throw .locked(partition)
    }

    private func endOwner(
        of partition: LoadedPartition,
        ownedUnder epoch: Int64?,
        _ interrupt: Interrupt
    ) throws(TrackerError) {
        do throws(PostgresFailure) {
            try withConnection(interrupt, timeout: configuration.deliveryTimeout) {
                connection,
                limit throws(PostgresFailure) in
                let statement = offsets.endOwner(of: partition, ownedUnder: epoch, timeout: claimTimeout)
                _ = try connection.execute(statement, limit)
            }
        } catch {
            switch error.sqlState {
            case "42501": throw .mayNotTerminate(ownerOf: partition, role: SQLText.identifier(role), error)
            case "42883": throw .outdatedServer(error)
            default: throw loaderTableError(error, .loading)
            }
        }
    }

    private func withLoaderTables<Value: Sendable>(
        _ access: LoaderTableAccess,
        _ interrupt: Interrupt,
        _ body: (PostgresConnection, WaitLimit) throws(PostgresFailure) -> Value
    ) throws(TrackerError) -> Value {
        do throws(PostgresFailure) {
            return try withConnection(interrupt, timeout: configuration.deliveryTimeout, body)
        } catch {
            throw loaderTableError(error, access)
        }
    }

    /// The error of a statement for the loader's tables.
    func loaderTableError(_ failure: PostgresFailure, _ access: LoaderTableAccess) -> TrackerError {
        switch failure.sqlState {
        case "42P01", "3F000": .missing(table: access.table(in: failure.message).sqlName(in: offsets.schema))
        case "42703": .outdated(table: access.table(in: failure.message).sqlName(in: offsets.schema))
        case "42501": missingPrivilege(for: access)
        default: TrackerError(failure)
        }
    }

    private func missingPrivilege(for access: LoaderTableAccess) -> TrackerError {
        let role = SQLText.identifier(role)
        return .missingPrivilege(
            "The role \(role) may not \(access.purpose)",
            grant: access.grants(in: offsets.schema).map { "\($0) TO \(role)" }.joined(separator: "; GRANT ")
        )
    }
}

extension TrackerError {
    /// A transaction of another session does not end, and the session is not the one that the table records.
    fileprivate static func locked(_ partition: LoadedPartition) -> TrackerError {
        TrackerError(
            code: .timeout,
            message:
                "Another session holds the lock on partition \(partition) in \(LoaderTable.offsets.name) and could not be "
                + "identified (a pooler, or GRANT pg_read_all_stats is missing); find it in pg_locks. The loader will retry.",
            isRetryable: true
        )
    }

    /// The owner's session belongs to another role.
    fileprivate static func mayNotTerminate(
        ownerOf partition: LoadedPartition,
        role: String,
        _ failure: PostgresFailure
    ) -> TrackerError {
        TrackerError(
            code: .misconfigured,
            message:
                "The role \(role) may not terminate the session that owns the partition \(partition), which belongs "
                + "to another role; run: GRANT pg_signal_backend, pg_read_all_stats TO \(role);",
            isRetryable: true,
            underlying: failure
        )
    }

    /// The server cannot terminate a session and wait for its end.
    fileprivate static func outdatedServer(_ failure: PostgresFailure? = nil) -> TrackerError {
        TrackerError(
            code: .misconfigured,
            message:
                "The server is older than PostgreSQL 14, so a loader cannot terminate the session of a partition's earlier owner; "
                + "upgrade the server.",
            isRetryable: true,
            underlying: failure
        )
    }

    /// The database cannot store every character.
    fileprivate static func wrongEncoding(_ encoding: String) -> TrackerError {
        TrackerError(
            code: .misconfigured,
            message:
                "The encoding of the database is \(encoding), which cannot store every record; create one with ENCODING 'UTF8'.",
            isRetryable: false
        )
    }

    /// The server did not return what was just stored.
    fileprivate static func unreadable(_ table: String) -> TrackerError {
        TrackerError(
            code: .failed,
            message: "The table \(table) did not return the claimed row; "
                + "does it have a rule, a trigger or a row-level policy?",
            isRetryable: false
        )
    }
}
