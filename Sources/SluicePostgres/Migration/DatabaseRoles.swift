/// The roles of a schema: its owner, the processes that load it, and the people who read it.
///
/// Each is created if it does not exist, with LOGIN and without a password. Settings of a role are made only then, so that an
/// administrator can change them.
struct DatabaseRoles: Sendable {
    /// The longest schema of whose name PostgreSQL does not cut a role's name off.
    static let maximumBytesOfSchema = 56

    let schema: String
    /// The database that the migrator is connected to.
    let database: String
    /// The columns of the key that a table gets when it is created.
    let keyOfNewTable: [String]

    /// The role that owns everything, as which `sluice migrate` runs afterwards.
    var owner: String { schema + "_owner" }
    /// The role of `sluice serve` and `sluice load`.
    var loader: String { schema + "_loader" }
    /// The role of people and programs that query.
    var reader: String { schema + "_reader" }

    /// The statement that creates the missing roles, and lets the owner own what it will get.
    ///
    /// The limits keep one query from holding the tables' locks, or old rows, for hours.
    func creation(hasViews: Bool) -> String {
        func create(_ role: String, _ settings: [String]) -> String {
            let name = SQLText.identifier(role)
            let steps = ["CREATE ROLE \(name) LOGIN"] + settings.map { "ALTER ROLE \(name) SET \($0)" }
            return """
                    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = \(SQLText.literal(role))) THEN
                        \(steps.map { $0 + ";" }.joined(separator: "\n        "))
                    END IF;
                """
        }
        let owner = SQLText.identifier(owner)
        let segment = SQLText.literal(SegmentViews.schema)
        // The owner of a view needs CREATE on its schema, which somebody else may own.
        let views = """
                IF NOT has_schema_privilege(\(SQLText.literal(self.owner)), \(segment), 'CREATE') THEN
                    GRANT USAGE, CREATE ON SCHEMA \(SQLText.identifier(SegmentViews.schema)) TO \(owner);
                END IF;

            """
        return Self.block(
            """
            BEGIN
            \(create(self.owner, []))
            \(create(loader, []))
            \(create(reader, ["statement_timeout = '5min'", "idle_in_transaction_session_timeout = '1min'"]))
                -- Only a member can make a role the owner of something.
                IF NOT pg_has_role(current_user, \(SQLText.literal(self.owner)), 'MEMBER') THEN
                    EXECUTE format('GRANT %I TO %I', \(SQLText.literal(self.owner)), current_user);
                END IF;
                IF NOT has_database_privilege(\(SQLText.literal(self.owner)), current_database(), 'CREATE') THEN
                    GRANT CREATE ON DATABASE \(SQLText.identifier(database)) TO \(owner);
                END IF;
            \(hasViews ? views : "")END
            """
        )
    }

    /// The statement that makes the owner own what is in the schemas of the tables and their partitions, and Sluice's views.
    ///
    /// Each object is a transaction of its own, so it holds few locks; the statement must not run in a transaction.
    var ownership: String {
        let schemas = [schema, TimePartition.schema(besides: schema)].map(SQLText.literal).joined(separator: ", ")
        let views = SegmentViews.names.map(SQLText.literal).joined(separator: ", ")
        let owner = SQLText.literal(owner)
        return Self.block(
            """
            DECLARE
                thing record;
            BEGIN
                FOR thing IN
                    SELECT 1 AS step, format('SCHEMA %I', n.nspname) AS name
                    FROM pg_catalog.pg_namespace n
                    WHERE n.nspname IN (\(schemas)) AND n.nspowner <> \(owner)::regrole
                    UNION ALL
                    SELECT 2, format('%s %I.%I', CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW'
                        WHEN 'S' THEN 'SEQUENCE' WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END, n.nspname, c.relname)
                    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                    WHERE c.relowner <> \(owner)::regrole AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
                        AND (n.nspname IN (\(schemas))
                            OR n.nspname = \(SQLText.literal(SegmentViews.schema)) AND c.relname IN (\(views))
                                AND obj_description(c.oid, 'pg_class') LIKE '%sluice migrate --segment-views%')
                        -- The sequence of a column follows its table.
                        AND NOT (c.relkind = 'S' AND EXISTS (SELECT FROM pg_catalog.pg_depend d
                            WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('a', 'i')))
                    UNION ALL
                    SELECT 2, format('ROUTINE %s', p.oid::regprocedure)
                    FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
                    WHERE n.nspname IN (\(schemas)) AND p.proowner <> \(owner)::regrole
                    ORDER BY 1, 2
                LOOP
                    EXECUTE format('ALTER %s OWNER TO %I', thing.name, \(owner));
                    COMMIT;
                END LOOP;
            END
            """
        )
    }

    /// The statements that grant the loader and the reader what they need.
    ///
    /// - Parameters:
    ///   - tables: The tables of the plan.
    ///   - present: What exists in their schema.
    ///   - views: The names of the views in Segment's form.
    ///   - exists: True for those of Sluice's own tables that exist.
    /// - Returns: The statements, which can run in one transaction.
    func grants(
        for tables: [EventTable],
        in present: PresentSchema,
        views: [String],
        exists: (String) -> Bool
    ) -> [String] {
        let (owner, reader) = (SQLText.identifier(owner), SQLText.identifier(reader))
        let loader = SQLText.identifier(loader)
        let schema = SQLText.identifier(schema)
        var statements = RoleGrants(
            role: self.loader,
            schema: self.schema,
            database: database,
            keyOfNewTable: keyOfNewTable
        )
        .statements(for: tables, in: present, exists: exists)
        statements += [
            """
            ALTER DEFAULT PRIVILEGES FOR ROLE \(owner) IN SCHEMA \(schema) GRANT INSERT, SELECT ON TABLES TO \(loader)
            """,
            "GRANT USAGE ON SCHEMA \(schema) TO \(reader)",
        ]
        // Not those of Sluice itself, which have refused records, nor the partitions, which a query of their table may read anyway.
        statements += tables.map { "GRANT SELECT ON \($0.sqlName) TO \(reader)" }
        if !views.isEmpty {
            let segment = SQLText.identifier(SegmentViews.schema)
            statements.append("GRANT USAGE ON SCHEMA \(segment) TO \(reader)")
            statements += views.map { "GRANT SELECT ON \(segment).\(SQLText.identifier($0)) TO \(reader)" }
        }
        return statements
    }

    /// A statement that runs a block of PL/pgSQL.
    private static func block(_ text: String) -> String { "DO $roles$\n\(text)\n$roles$" }
}
