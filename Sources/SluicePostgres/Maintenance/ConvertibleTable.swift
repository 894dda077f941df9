/// A table that is not partitioned, with what a conversion keeps.
struct ConvertibleTable: Hashable {
    /// A view of the table, which is made again.
    struct View: Hashable {
        /// The schema and the name, quoted.
        let sqlName: String
        /// The owner, quoted.
        let owner: String
        let definition: String
        /// The view's options, as a statement states them; empty for none.
        let options: String
    }

    /// A privilege that somebody has on the table, or on one of its columns.
    struct Grant: Hashable {
        /// The role, quoted, or `PUBLIC`.
        let role: String
        let privilege: String
        let isGrantable: Bool
        let column: String?
    }

    /// An index of the table.
    struct Index: Hashable {
        let name: String
        let columns: [String]
        let isUnique: Bool
        let isPrimary: Bool
        let isValid: Bool
        /// Whether it has a condition, so that it does not contain all rows.
        let isPartial: Bool
        /// The definition after the table's name, with which another table gets the same index.
        let definition: String
        /// The name of the constraint that it enforces; `nil` for none.
        let constraint: String?
    }

    /// Something that refers to the table, and would keep referring to the old rows alone.
    struct Dependent: Hashable {
        let kind: String
        let name: String
        /// Whether the conversion works without it.
        let canBeLeft: Bool

        var description: String { "the \(kind) \(name)" }
    }

    /// The kind of relation, by the server's letter.
    var kind = ""
    var owner = ""
    var comment: String?
    /// The name of the constraint that an earlier run made; `nil` for none.
    var bound: String?
    var views: [View] = []
    var grants: [Grant] = []
    var indexes: [Index] = []
    var dependents: [Dependent] = []
}

extension ConvertibleTable {
    /// Reads a table; `nil` if it does not exist.
    static func read(
        _ table: EventTable,
        over connection: PostgresConnection,
        _ limit: WaitLimit
    ) throws(PostgresFailure) -> ConvertibleTable? {
        let name = [table.sqlName]
        let heads = try connection.rows(of: headQuery, parameters: name, limit)
        guard let head = heads.first, head.count == 4 else { return nil }
        var read = ConvertibleTable()
        read.kind = head[0] ?? ""
        read.owner = head[1] ?? ""
        read.comment = head[2]
        read.bound = head[3]
        for row in try connection.rows(of: viewQuery, parameters: name, limit) where row.count == 4 {
            guard let view = row[0], let owner = row[1], let definition = row[2] else { continue }
            read.views.append(View(sqlName: view, owner: owner, definition: definition, options: row[3] ?? ""))
        }
        for row in try connection.rows(of: grantQuery, parameters: name, limit) where row.count == 4 {
            guard let role = row[0], let privilege = row[1] else { continue }
            read.grants.append(Grant(role: role, privilege: privilege, isGrantable: row[2] == "t", column: row[3]))
        }
        for row in try connection.rows(of: indexQuery, parameters: name, limit) where row.count == 8 {
            guard let index = row[0], let definition = row[6] else { continue }
            read.indexes.append(
                Index(
                    name: index,
                    columns: row[1]?.split(separator: "\n").map(String.init) ?? [],
                    isUnique: row[2] == "t",
                    isPrimary: row[3] == "t",
                    isValid: row[4] == "t",
                    isPartial: row[5] == "t",
                    definition: definition,
                    constraint: row[7]
                )
            )
        }
        for row in try connection.rows(of: dependentQuery, parameters: name, limit) where row.count == 3 {
            guard let kind = row[0], let name = row[1] else { continue }
            read.dependents.append(Dependent(kind: kind, name: name, canBeLeft: row[2] == "t"))
        }
        return read
    }

    private static let headQuery = """
        SELECT c.relkind, c.relowner::pg_catalog.regrole, obj_description(c.oid, 'pg_class'),
            (SELECT max(o.conname) FROM pg_catalog.pg_constraint o
                WHERE o.conrelid = c.oid AND o.conname ~ '^\(TableConversion.boundPrefix)[0-9]{4}_[0-9]{2}$')
        FROM pg_catalog.pg_class c WHERE c.oid = to_regclass($1)
        """

    /// Selects the views whose definitions name the table.
    private static let viewQuery = """
        SELECT DISTINCT quote_ident(n.nspname) || '.' || quote_ident(v.relname), v.relowner::pg_catalog.regrole::text,
            rtrim(pg_catalog.pg_get_viewdef(v.oid), ';'), array_to_string(v.reloptions, ', ')
        FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_rewrite r ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
        JOIN pg_catalog.pg_class v ON v.oid = r.ev_class AND v.relkind = 'v'
        JOIN pg_catalog.pg_namespace n ON n.oid = v.relnamespace
        WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = to_regclass($1)
        ORDER BY 1
        """

    private static let grantQuery = """
        SELECT CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::pg_catalog.regrole::text END, g.privilege_type, g.is_grantable,
            g.attname
        FROM (
            SELECT c.relowner, x.*, NULL AS attname FROM pg_catalog.pg_class c, aclexplode(c.relacl) x
            WHERE c.oid = to_regclass($1)
            UNION ALL
            SELECT c.relowner, x.*, a.attname FROM pg_catalog.pg_class c
            JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped, aclexplode(a.attacl) x
            WHERE c.oid = to_regclass($1)
        ) g WHERE g.grantee <> g.relowner
        ORDER BY 1, 2, 4
        """

    private static let indexQuery = """
        SELECT k.relname,
            (SELECT string_agg(coalesce(a.attname, '?'), E'\\n' ORDER BY p.n) FROM unnest(i.indkey::int2[]) WITH ORDINALITY p (attnum, n)
                LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = p.attnum),
            i.indisunique OR i.indisexclusion, i.indisprimary, i.indisvalid, i.indpred IS NOT NULL,
            substr(pg_catalog.pg_get_indexdef(i.indexrelid), strpos(pg_catalog.pg_get_indexdef(i.indexrelid), ' USING ')),
            (SELECT o.conname FROM pg_catalog.pg_constraint o WHERE o.conindid = i.indexrelid AND o.conrelid = i.indrelid)
        FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class k ON k.oid = i.indexrelid
        WHERE i.indrelid = to_regclass($1)
        ORDER BY k.relname
        """

    /// Selects what follows the old table and is not a plain view or a grant: the kind, the name, and whether it may.
    private static let dependentQuery = """
        WITH t AS (SELECT c.oid, c.reltype, n.nspname, c.relname FROM pg_catalog.pg_class c
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = to_regclass($1))
        SELECT 'trigger', g.tgname::text, true FROM t, pg_catalog.pg_trigger g WHERE g.tgrelid = t.oid AND NOT g.tgisinternal
        UNION SELECT 'publication', p.pubname::text, true FROM t, pg_catalog.pg_publication_tables p
            WHERE p.schemaname = t.nspname AND p.tablename = t.relname
        UNION SELECT 'foreign key', o.conname::text, o.confrelid <> t.oid FROM t, pg_catalog.pg_constraint o
            WHERE o.contype = 'f' AND t.oid IN (o.conrelid, o.confrelid)
        UNION SELECT 'policy', y.polname::text, true FROM t, pg_catalog.pg_policy y WHERE y.polrelid = t.oid
        UNION SELECT 'rule', r.rulename::text, true FROM t, pg_catalog.pg_rewrite r WHERE r.ev_class = t.oid
        UNION SELECT 'identity column', a.attname::text, false FROM t, pg_catalog.pg_attribute a
            WHERE a.attrelid = t.oid AND a.attidentity <> ''
        UNION SELECT 'unique index', k.relname::text, true FROM t, pg_catalog.pg_index i, pg_catalog.pg_class k
            WHERE i.indrelid = t.oid AND k.oid = i.indexrelid AND (i.indisunique OR i.indisexclusion) AND NOT i.indisprimary
                AND (SELECT array_agg(a.attname::text ORDER BY p.n) FROM unnest(i.indkey::int2[]) WITH ORDINALITY p (attnum, n)
                    JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum = p.attnum)
                    IS DISTINCT FROM ARRAY['occurred_at', 'id']
        UNION SELECT 'inheritance with', h.inhrelid::pg_catalog.regclass::text, false FROM t, pg_catalog.pg_inherits h
            WHERE h.inhparent = t.oid
        UNION SELECT 'inheritance from', h.inhparent::pg_catalog.regclass::text, false FROM t, pg_catalog.pg_inherits h
            WHERE h.inhrelid = t.oid
        UNION SELECT CASE v.relkind WHEN 'm' THEN 'materialized view' ELSE 'rule of' END, v.oid::pg_catalog.regclass::text, true
            FROM t, pg_catalog.pg_depend d, pg_catalog.pg_rewrite r, pg_catalog.pg_class v
            WHERE d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND v.oid = r.ev_class
                AND d.refclassid = 'pg_class'::regclass AND d.refobjid = t.oid AND v.oid <> t.oid AND v.relkind <> 'v'
        UNION SELECT 'object', pg_catalog.pg_describe_object(d.classid, d.objid, d.objsubid), true FROM t, pg_catalog.pg_depend d
            WHERE d.deptype = 'n' AND d.classid IN ('pg_proc'::regclass, 'pg_class'::regclass)
                AND (d.refclassid = 'pg_class'::regclass AND d.refobjid = t.oid
                    OR d.refclassid = 'pg_type'::regclass
                        AND d.refobjid IN (SELECT y.oid FROM pg_catalog.pg_type y WHERE t.reltype IN (y.oid, y.typelem)))
        ORDER BY 1, 2
        """
}
