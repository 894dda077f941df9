import EventModel
import EventSchema
import EventValidation
import TrackerKit

/// Finds and erases people's rows over one connection.
struct ErasureRun {
    /// How often it asks at most, with pauses of 0.1 s, whether transactions that write have ended.
    private static let maximumQuestions = 6_000
    /// The settings that a statement may take as long as it needs.
    ///
    /// Without an index it reads whole tables, and VACUUM waits for another VACUUM. No loader waits behind either.
    private static let noTimeout = """
        SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0
        """

    let connection: PostgresConnection
    let statements: ErasureStatements
    let limit: WaitLimit
    init(
        _ connection: PostgresConnection,
        _ configuration: PostgresConfiguration,
        _ limit: WaitLimit
    ) throws(PostgresFailure) {
        self.connection = connection
        self.limit = limit
        statements = ErasureStatements(schema: configuration.schema)
        try connection.execute(Self.noTimeout, limit)
    }

    // MARK: Identifiers

    func devices(of users: Set<ExactText>) throws(PostgresFailure) -> [SeenDevice] {
        let tables = try tables()
        let users = SQLText.array(users.map(\.text))
        var devices: Set<ExactText> = []
        for table in tables {
            let found = try rows(statements.anonymousIDs(in: table), users)
            devices.formUnion(found.compactMap { $0[0].map(ExactText.init) })
        }
        guard !devices.isEmpty else { return [] }
        let ids = SQLText.array(devices.map(\.text))
        var shared: Set<ExactText> = []
        for table in tables {
            let found = try rows(statements.sharedAnonymousIDs(in: table), users, ids)
            shared.formUnion(found.compactMap { $0[0].map(ExactText.init) })
        }
        return devices.map { SeenDevice(anonymousID: $0, isShared: shared.contains($0)) }
    }

    func identifiers(of tombstones: Tombstones) throws(PostgresFailure) -> [FoundIdentifier] {
        var found: Set<FoundIdentifier> = []
        func note(_ text: String, _ subject: Tombstone.Subject) {
            if tombstones.request(for: text, subject) != nil { found.insert(FoundIdentifier(subject, ExactText(text))) }
        }
        for table in try tables() {
            try forEachRow(of: statements.openUsers(of: table)) { row in if let user = row[0] { note(user, .user) } }
            try forEachRow(of: statements.openAnonymousIDs(of: table)) { row in
                if let device = row[0] { note(device, .anonymous) }
            }
        }
        try connection.execute(ErasureStatements.createNamed, limit)
        // A row may have the value of a record.
        try forEachRow(of: statements.openRefusedIdentifiers, partCount: 20) { row in
            let subjects = row[1].flatMap(Tombstone.Subject.init).map { [$0] } ?? Tombstone.Subject.allCases
            for text in row[0].map({ [$0] }) ?? Self.texts(in: row[2]) {
                for subject in subjects { note(text, subject) }
            }
        }
        return Array(found)
    }

    /// The bytes, in hexadecimal digits, of a key or of a value that is not JSON: as a whole, and what is between quotation marks.
    private static func texts(in digits: String?) -> [String] {
        let bytes = Hexadecimal.bytes(of: (digits ?? "")[...])
        return ([bytes[...]] + bytes.split(separator: UInt8(ascii: "\""))).compactMap {
            String(validating: $0, as: UTF8.self)
        }
    }

    /// Reads the rows of the cursor that `open` opens, in parts.
    private func forEachRow(
        of open: String,
        partCount: Int = 10_000,
        _ body: ([String?]) -> Void
    ) throws(PostgresFailure) {
        try connection.execute(open, limit)
        while true {
            let part = try connection.lastRows(of: ErasureStatements.fetch(partCount), limit)
            guard !part.isEmpty else { break }
            for row in part { body(row) }
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
        try connection.execute(ErasureStatements.createNamed, limit)
        let withDevices = !request.anonymousIDs.isEmpty
        for table in try tables(for: request.mode) {
            let statement = statements.count(in: table, withDevices: withDevices)
            try add(table.place, isAnonymised: table.keepsRows, statement)
        }
        try add(statements.placeOfRefused, isAnonymised: false, statements.countRefused)
        return counts
    }

    func erase(_ request: ErasureRequest) throws(PostgresFailure) -> ErasureCounts {
        try connection.execute(ErasureStatements.createNamed, limit)
        var tables = try tables(for: request.mode)
        let earlier = try erased(for: request, from: tables)
        guard !request.users.isEmpty || !request.anonymousIDs.isEmpty else {
            // An earlier run may have been interrupted before its end.
            try vacuum(request.receipt)
            return ErasureCounts(total: earlier, earlier: earlier)
        }
        // What was being written when the tombstones became known is committed then.
        try waitForWriters(of: tables)
        try eraseOnce(request, from: tables)
        try vacuum(request.receipt)
        // Finds what a process wrote that learnt of the tombstones too late. A partition whose detachment has begun meanwhile is not
        // reached through its table any more.
        var present = try self.tables(for: request.mode)
        repeat {
            tables = present
            if try eraseOnce(request, from: tables) { try vacuum(request.receipt) }
            present = try self.tables(for: request.mode)
        } while present.map(\.place) != tables.map(\.place)
        return ErasureCounts(total: try erased(for: request, from: tables), earlier: earlier)
    }

    /// How many rows were deleted or anonymised for a request's receipt so far.
    private func erased(
        for request: ErasureRequest,
        from tables: [ErasureStatements.Table]
    ) throws(PostgresFailure) -> [ErasedEvents] {
        // A partition may have been dropped since its rows were counted.
        let deleted = Set(tables.filter { !$0.keepsRows }.map(\.place) + [statements.placeOfRefused])
        return try rows(statements.erased, request.receipt).compactMap { row in
            guard let place = row[0], let count = row[1].flatMap({ Int($0) }) else { return nil }
            return ErasedEvents(
                place: place,
                count: count,
                isAnonymised: request.mode != .delete && !deleted.contains(place)
            )
        }
    }

    /// Waits for the transactions that are writing to tables.
    private func waitForWriters(of tables: [ErasureStatements.Table]) throws(PostgresFailure) {
        let names = SQLText.array(tables.map(\.sqlName))
        var writers = try rows(ErasureStatements.writers, names).compactMap { $0[0] }
        var questions = 0
        while !writers.isEmpty {
            guard questions < Self.maximumQuestions else {
                let message = "A transaction that writes to the tables of events has not ended for ten minutes."
                throw PostgresFailure(source: .server, sqlState: "55P03", message: message)
            }
            questions += 1
            writers = try rows(ErasureStatements.unfinished, SQLText.array(writers)).compactMap { $0[0] }
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
                // Readers and loaders wait behind this lock, so a table without such a row is left alone.
                let one = try rows(statements.find(in: table, withDevices: withDevices), self.parameters(of: request))
                if one.isEmpty { continue }
                try allowNulls(in: table, change)
            }
            try erase(statements.erase(in: table, withDevices: withDevices))
        }
        try erase(statements.eraseRefused)
        return hasErased
    }

    private func allowNulls(in table: ErasureStatements.Table, _ change: String) throws(PostgresFailure) {
        do throws(PostgresFailure) {
            try PatientChange(connection: connection, limit: limit).run(change)
        } catch {
            guard error.isOfLock else { throw error }
            throw PostgresFailure(
                source: .server,
                sqlState: "55P03",
                message: """
                    Columns of \(table.place) have to become nullable, but other sessions use the table. Run the command again.
                    """
            )
        }
    }

    /// Vacuums the tables and partitions from which rows were erased, also by an earlier run for the receipt, and analyzes them and the
    /// tables that they are partitions of.
    ///
    /// Otherwise earlier versions of rows, entries of indexes and the planner's statistics would still have the values.
    private func vacuum(_ receipt: String) throws(PostgresFailure) {
        let parts = try rows(statements.unvacuumed, receipt)
        for part in parts {
            guard let schema = part[0], let name = part[1] else { continue }
            let table = ErasureStatements.Table(schema: schema, name: name)
            // By default, VACUUM leaves the indexes as they are if few rows are gone.
            try connection.execute("VACUUM (INDEX_CLEANUP ON, ANALYZE) \(table.sqlName)", limit)
        }
        for parent in Set(parts.compactMap { $0[2] }).sorted() { try connection.execute("ANALYZE \(parent)", limit) }
        for part in parts {
            guard let schema = part[0], let name = part[1] else { continue }
            _ = try rows(statements.noteVacuum, [receipt, schema, name])
        }
    }

    // MARK: Tombstones

    func store(_ tombstones: [Tombstone], ofReceipt receipt: String) throws(PostgresFailure) {
        for (requestedAt, tombstones) in Dictionary(grouping: tombstones, by: \.requestedAt) {
            _ = try rows(
                statements.storeTombstones,
                [
                    SQLText.array(tombstones.map(\.subject.rawValue)),
                    SQLText.array(tombstones.map(\.hash)), requestedAt.description, receipt,
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
        let kept = KeptColumns(plan, schema: statements.schema)
        for index in tables.indices { tables[index].emptied = try emptied(of: tables[index], kept) }
        return tables
    }

    /// The columns of a table that are not kept; `nil` if one of them belongs to the primary key, and so needs its values.
    private func emptied(
        of table: ErasureStatements.Table,
        _ kept: KeptColumns
    ) throws(PostgresFailure) -> [EmptiedColumn]? {
        var emptied: [EmptiedColumn] = []
        for row in try rows(ErasureStatements.columns, table.sqlName) {
            guard let name = row[0], let type = row[4], !kept.contains(name, of: type, in: table) else { continue }
            if row[3] == "t" { return nil }
            emptied.append(EmptiedColumn(name: name, isRequired: row[1] == "t", hasDefault: row[2] == "t"))
        }
        return emptied
    }

    private func parameters(of request: ErasureRequest) -> [String] {
        [
            SQLText.array(request.users), SQLText.array(request.anonymousIDs),
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
