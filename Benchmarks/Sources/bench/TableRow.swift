/// Loading rows into a table with other keys and indexes, compared with the key `id` and ids of version 7.
struct TableRow: Row {
    /// How a table is laid out.
    private enum Layout: String {
        /// The key `id`.
        case id
        /// The same, with the indexes that queries need.
        case idIndexed = "id-indexed"
        /// The key `(occurred_at, id)`.
        case time
        /// Months, with the key `(id, occurred_at)` and the indexes that queries need.
        case monthsById = "months-id"
        /// What Sluice makes: months, with the key `(occurred_at, id)` and an index on the user.
        case months
    }

    static let all: [any Row] = [
        TableRow(layout: .id, version: 4, target: 0),
        TableRow(layout: .idIndexed, version: 4, target: 0),
        TableRow(layout: .time, version: 4, target: 0),
        TableRow(layout: .monthsById, version: 4, target: 0),
        TableRow(layout: .months, version: 4, target: 0.5),
        TableRow(layout: .months, version: 7, target: 0.5),
    ]

    private let layout: Layout
    /// The version of the ids: 4 is random, and 7 begins with the time.
    private let version: Int
    private let target: Double

    private static let events = 1_000_000
    private static let rounds = 3
    private static let source = "bench_source"
    private static let schema = "bench_tables"

    var name: String { "table-\(layout.rawValue)-\(version)" }

    var what: String {
        let key =
            switch layout {
            case .id: "key (id)"
            case .idIndexed: "key (id), btree (user_id, occurred_at), BRIN (occurred_at)"
            case .time: "key (occurred_at, id)"
            case .monthsById: "months, key (id, occurred_at), btree (user_id, occurred_at), BRIN (occurred_at)"
            case .months: "months, key (occurred_at, id), btree (user_id, occurred_at)"
            }
        return "COPY into a table: \(key); ids of version \(version)"
    }

    func measure(at site: Site) throws -> Measurement {
        try prepare(at: site)
        let first = Reference.itself("key (id), version 7", target: target) { try load(.id, 7, at: site) }
        var measurement = try Measurement(
            of: self,
            unit: "rows/s",
            rounds: min(Self.rounds, site.rounds),
            with: [first]
        ) {
            try load(layout, version, at: site)
        }
        measurement.notes = [
            "\\copy of \(Self.events) rows in the order of their times, over 11 months; a checkpoint before each round"
        ]
        return measurement
    }

    private func load(_ layout: Layout, _ version: Int, at site: Site) throws -> Double {
        let table = Self.table(layout)
        try EventTables.empty([table], at: site)
        let elapsed = try ContinuousClock().measure {
            try EventTables.sql(["\\copy \(table) from '\(Self.file(version, at: site))' with binary"], at: site)
        }
        return Double(Self.events) / (elapsed / .seconds(1))
    }

    private static func table(_ layout: Layout) -> String {
        layout == .months ? "bench_months.item_purchased" : "\(schema).\"\(layout.rawValue)\""
    }

    private static func file(_ version: Int, at site: Site) -> String { "\(site.scratch)/table-\(version).copy" }

    // MARK: Preparation

    /// Makes the files with rows, and the tables of both sides.
    private func prepare(at site: Site) throws {
        try EventTables.sql(
            ["set client_min_messages = warning"]
                + [Self.source, Self.schema, "bench_months", "bench_months_partitions"].map {
                    "drop schema if exists \($0) cascade"
                } + ["create schema \(Self.schema)"],
            at: site
        )
        try EventTables.make(inSchema: Self.source, partitions: "none", at: site)
        let replay = try Replay.run(
            // A few of the events are of another table.
            [Material(at: site).real(count: Self.events + Self.events / 10)],
            to: "postgres",
            options: ["--postgres", site.postgres, "--schema", Self.source],
            at: site
        )
        guard replay.delivered >= Self.events else { throw BenchmarkError("only \(replay.delivered) rows arrived") }
        for version in Set([7, self.version]).sorted() {
            try EventTables.sql(
                [
                    "update \(Self.source).item_purchased set id = \(Self.id(version))",
                    """
                    \\copy (select * from \(Self.source).item_purchased order by occurred_at limit \(Self.events)) \
                    to '\(Self.file(version, at: site))' with binary
                    """,
                ],
                at: site
            )
        }
        try make(.id, at: site)
        if layout != .id { try make(layout, at: site) }
    }

    private static func id(_ version: Int) -> String {
        if version == 4 { return "gen_random_uuid()" }
        let time = "lpad(to_hex((extract(epoch from occurred_at) * 1000)::bigint), 12, '0')"
        return "(\(time) || '7' || substr(md5(id::text), 1, 3) || '8' || substr(md5(id::text), 4, 15))::uuid"
    }

    private func make(_ layout: Layout, at site: Site) throws {
        guard layout != .months else { return try EventTables.make(inSchema: "bench_months", at: site) }
        let table = Self.table(layout)
        let like = "create table \(table) (like \(Self.source).item_purchased including defaults)"
        let user = "create index on \(table) (user_id, occurred_at)"
        let brin = "create index on \(table) using brin (occurred_at)"
        let statements: [String] =
            switch layout {
            case .id: [like, "alter table \(table) add primary key (id)"]
            case .idIndexed: [like, "alter table \(table) add primary key (id)", user, brin]
            case .time: [like, "alter table \(table) add primary key (occurred_at, id)"]
            case .monthsById:
                [
                    like + " partition by range (occurred_at)",
                    "alter table \(table) add primary key (id, occurred_at)", user, brin, Self.months(of: table),
                ]
            case .months: []
            }
        try EventTables.sql(statements, at: site)
    }

    private static func months(of table: String) -> String {
        """
        do $$ begin for month in 0..23 loop execute format('create table \(schema).months_%s partition of \(table) \
        for values from (%L) to (%L)', month, '2010-12-01 00:00+00'::timestamptz + month * interval '1 month', \
        '2010-12-01 00:00+00'::timestamptz + (month + 1) * interval '1 month'); end loop; end $$
        """
    }
}
