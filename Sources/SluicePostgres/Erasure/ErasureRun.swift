import EventModel
import EventValidation
import TrackerKit

/// Finds and erases people's rows over one connection.
struct ErasureRun {
    /// How often a table is locked at most, with one second for each attempt.
    private static let maximumBarriers = 60
    /// The setting that a statement may take as long as it needs: without an index, it reads whole tables.
    private static let noTimeout = "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0"

    let connection: PostgresConnection
    let statements: ErasureStatements
    let limit: WaitLimit

    init(_ connection: PostgresConnection, schema: String, _ limit: WaitLimit) throws(PostgresFailure) {
        self.connection = connection
        self.limit = limit
        statements = ErasureStatements(schema: schema)
        try connection.execute(Self.noTimeout, limit)
    }

    // MARK: Identifiers

    func devices(of users: Set<String>) throws(PostgresFailure) -> [SeenDevice] {
        let tables = try tables()
        var devices: [String: Set<String>] = [:]
        for table in tables {
            for row in try rows(statements.anonymousIDs(in: table), ErasureStatements.array(users)) {
                if let id = row[0] { devices[id] = [] }
            }
        }
        guard !devices.isEmpty else { return [] }
        let ids = ErasureStatements.array(devices.keys)
        for table in tables {
            for row in try rows(statements.users(in: table), ids) {
                if let id = row[0] { devices[id]?.formUnion(row.dropFirst().compactMap { $0 }) }
            }
        }
        return devices.map { SeenDevice(anonymousID: $0, users: $1) }
    }

    func identifiers(of tombstones: Tombstones) throws(PostgresFailure) -> [FoundIdentifier] {
        var found: Set<FoundIdentifier> = []
        func note(_ text: String, _ subject: Tombstone.Subject) {
            if tombstones.request(for: text, subject) != nil { found.insert(FoundIdentifier(subject, text)) }
        }
        for table in try tables() {
            try forEachIdentifier(statements.openUsers(of: table)) { note($0, .user) }
            try forEachIdentifier(statements.openAnonymousIDs(of: table)) { note($0, .anonymous) }
        }
        for row in try rows(statements.refusedKeys) {
            let key = String(decoding: Hexadecimal.bytes(of: (row[0] ?? "")[...]), as: UTF8.self)
            for subject in Tombstone.Subject.allCases { note(key, subject) }
        }
        return Array(found)
    }

    private func forEachIdentifier(_ open: String, _ body: (String) -> Void) throws(PostgresFailure) {
        try connection.execute(open, limit)
        while true {
            let part = try connection.lastRows(of: ErasureStatements.fetch, limit)
            guard !part.isEmpty else { break }
            for row in part { if let text = row[0] { body(text) } }
        }
        try connection.execute("COMMIT", limit)
    }

    // MARK: Rows

    func count(_ request: ErasureRequest) throws(PostgresFailure) -> [ErasedEvents] {
        var counts: [ErasedEvents] = []
        func add(_ place: String, _ statement: String) throws(PostgresFailure) {
            let count = try rows(statement, parameters(of: request)).first?.first.flatMap { $0.flatMap { Int($0) } }
            if let count, count > 0 { counts.append(ErasedEvents(place: place, count: count)) }
        }
        let withDevices = !request.anonymousIDs.isEmpty
        for table in try tables() { try add(table.place, statements.count(in: table, withDevices: withDevices)) }
        try add("\(statements.schema).\(LoaderTable.refused.name)", statements.countRefused)
        return counts
    }

    func erase(_ request: ErasureRequest) throws(PostgresFailure) -> [ErasedEvents] {
        let tables = try tables()
        // What was being written when the tombstones became known is committed then.
        for table in tables { try waitForWriters(of: table) }
        try eraseOnce(request, from: tables)
        try vacuum(request.receipt)
        // Finds what a process wrote that learnt of the tombstones too late.
        if try eraseOnce(request, from: tables) { try vacuum(request.receipt) }
        return try rows(statements.erased, request.receipt).compactMap { row in
            guard let place = row[0], let count = row[1].flatMap({ Int($0) }) else { return nil }
            return ErasedEvents(place: place, count: count)
        }
    }

    /// Waits for the transactions that have written to a table.
    ///
    /// The attempts are short, because loaders wait behind each of them.
    private func waitForWriters(of table: ErasureStatements.Table) throws(PostgresFailure) {
        var attempts = 0
        while true {
            attempts += 1
            do throws(PostgresFailure) {
                try connection.execute(statements.barrier(table), limit)
                return
            } catch {
                guard error.sqlState == "55P03", attempts < Self.maximumBarriers else { throw error }
            }
            try connection.execute("ROLLBACK", limit)
        }
    }

    /// Erases the rows that there are now, a transaction for each table; returns whether there were any.
    @discardableResult
    private func eraseOnce(
        _ request: ErasureRequest,
        from tables: [ErasureStatements.Table]
    ) throws(PostgresFailure) -> Bool {
        let parameters = parameters(of: request) + [request.receipt]
        var hasErased = false
        let withDevices = !request.anonymousIDs.isEmpty
        let erasures = tables.map { statements.erase(in: $0, withDevices: withDevices) }
        for statement in erasures + [statements.eraseRefused] {
            let parts = try connection.rows(of: statement, parameters: parameters, limit)
            hasErased = hasErased || !parts.isEmpty
        }
        return hasErased
    }

    /// Vacuums the tables and partitions from which rows were erased, also by an earlier run for the receipt.
    private func vacuum(_ receipt: String) throws(PostgresFailure) {
        for row in try rows(statements.unvacuumed, receipt) {
            guard let schema = row[0], let name = row[1] else { continue }
            let table = ErasureStatements.Table(schema: schema, name: name)
            try connection.execute("VACUUM \(table.sqlName)", limit)
            _ = try rows(statements.noteVacuum, [receipt, schema, name])
        }
    }

    // MARK: Tombstones

    func store(_ tombstones: [Tombstone], ofReceipt receipt: String) throws(PostgresFailure) {
        for (requestedAt, tombstones) in Dictionary(grouping: tombstones, by: \.requestedAt) {
            _ = try rows(
                statements.storeTombstones,
                [
                    ErasureStatements.array(tombstones.map(\.subject.rawValue)),
                    ErasureStatements.array(tombstones.map(\.hash)), requestedAt.description, receipt,
                ]
            )
        }
    }

    func storedTombstones() throws(PostgresFailure) -> [Tombstone] {
        guard try rows(statements.hasTombstones).first?.first == "t" else { return [] }
        return try rows(statements.storedTombstones).compactMap { row in
            guard let subject = row[0].flatMap(Tombstone.Subject.init), let hash = row[1],
                let time = row[2].flatMap({ Int64($0) })
            else { return nil }
            return Tombstone(subject: subject, hash: hash, requestedAt: Timestamp(microseconds: time))
        }
    }

    // MARK: Statements

    private func tables() throws(PostgresFailure) -> [ErasureStatements.Table] {
        try rows(statements.tables).compactMap { row in
            guard let schema = row[0], let name = row[1] else { return nil }
            return ErasureStatements.Table(schema: schema, name: name)
        }
    }

    private func parameters(of request: ErasureRequest) -> [String] {
        [
            ErasureStatements.array(request.users), ErasureStatements.array(request.anonymousIDs),
            request.requestedAt.description,
        ]
    }

    private func rows(_ statement: String, _ parameters: String...) throws(PostgresFailure) -> [[String?]] {
        try rows(statement, parameters)
    }

    private func rows(_ statement: String, _ parameters: [String]) throws(PostgresFailure) -> [[String?]] {
        try connection.rows(of: statement, parameters: parameters, limit)
    }
}
