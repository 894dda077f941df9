import EventModel
import EventSchema
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
    /// The tracker's name in the plan.
    private let tracker: String

    init(
        _ connection: PostgresConnection,
        _ configuration: PostgresConfiguration,
        _ limit: WaitLimit
    ) throws(PostgresFailure) {
        self.connection = connection
        self.limit = limit
        tracker = configuration.name
        statements = ErasureStatements(schema: configuration.schema)
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
        func add(_ place: String, isAnonymised: Bool, _ statement: String) throws(PostgresFailure) {
            let count = try rows(statement, parameters(of: request)).first?.first.flatMap { $0.flatMap { Int($0) } }
            guard let count, count > 0 else { return }
            counts.append(ErasedEvents(place: place, count: count, isAnonymised: isAnonymised))
        }
        let withDevices = !request.anonymousIDs.isEmpty
        for table in try tables(for: request.mode) {
            let statement = statements.count(in: table, withDevices: withDevices)
            try add(table.place, isAnonymised: table.keepsRows, statement)
        }
        let refused = "\(statements.schema).\(LoaderTable.refused.name)"
        try add(refused, isAnonymised: false, statements.countRefused)
        return counts
    }

    func erase(_ request: ErasureRequest) throws(PostgresFailure) -> [ErasedEvents] {
        let tables = try tables(for: request.mode)
        // What was being written when the tombstones became known is committed then.
        for table in tables { try withShortLock(statements.barrier(table)) }
        try eraseOnce(request, from: tables)
        try vacuum(request.receipt)
        // Finds what a process wrote that learnt of the tombstones too late.
        if try eraseOnce(request, from: tables) { try vacuum(request.receipt) }
        let anonymised = Set(tables.filter(\.keepsRows).map(\.place))
        return try rows(statements.erased, request.receipt).compactMap { row in
            guard let place = row[0], let count = row[1].flatMap({ Int($0) }) else { return nil }
            return ErasedEvents(place: place, count: count, isAnonymised: anonymised.contains(place))
        }
    }

    /// Runs a transaction that locks a table, as soon as others let it.
    ///
    /// The attempts are short, because loaders wait behind each of them.
    private func withShortLock(_ transaction: String) throws(PostgresFailure) {
        var attempts = 0
        while true {
            attempts += 1
            do throws(PostgresFailure) {
                try connection.execute(transaction, limit)
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
        func erase(_ statement: String) throws(PostgresFailure) {
            let parts = try rows(statement, parameters)
            hasErased = hasErased || !parts.isEmpty
        }
        let withDevices = !request.anonymousIDs.isEmpty
        for table in tables {
            if let change = statements.allowNulls(in: table) {
                // Readers wait for this lock, too, so a table without such a row is left alone.
                let one = try rows(statements.find(in: table, withDevices: withDevices), self.parameters(of: request))
                if one.isEmpty { continue }
                try withShortLock(change)
            }
            try erase(statements.erase(in: table, withDevices: withDevices))
        }
        try erase(statements.eraseRefused)
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

    /// The tables with what the mode does to their rows.
    private func tables(for mode: ErasureMode) throws(PostgresFailure) -> [ErasureStatements.Table] {
        var tables = try tables()
        guard case .anonymise(let plan) = mode else { return tables }
        let kept = KeptColumns(plan, tracker: tracker, schema: statements.schema)
        for index in tables.indices { tables[index].emptied = try emptied(of: tables[index], kept) }
        return tables
    }

    /// The columns of a table that are not kept; `nil` if one of them belongs to the primary key, and so needs its values.
    private func emptied(
        of table: ErasureStatements.Table,
        _ kept: KeptColumns
    ) throws(PostgresFailure) -> [EmptiedColumn]? {
        var emptied: [EmptiedColumn] = []
        for row in try rows(statements.columns, table.sqlName) {
            guard let name = row[0], !kept.contains(name, in: table) else { continue }
            if row[3] == "t" { return nil }
            emptied.append(EmptiedColumn(name: name, isRequired: row[1] == "t", hasDefault: row[2] == "t"))
        }
        return emptied
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
