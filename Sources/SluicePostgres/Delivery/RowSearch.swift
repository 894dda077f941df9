/// The function of a session that inserts staged rows and finds those that the server does not accept.
///
/// The search runs in the server, because one round trip for each part of the rows would cost more than the rows. It inserts parts
/// behind savepoints: a part is four times smaller after a failure and twice as large after a success, so it finds many failing rows
/// at a cost in proportion to all rows, and few at little cost.
struct RowSearch: Sendable {
    /// A row that the server does not accept.
    struct Failure: Sendable {
        /// The row's place among the staged rows, from 0.
        let place: Int
        let failure: PostgresFailure
    }

    /// What became of the staged rows.
    struct Result: Sendable {
        /// The rows that failed, by ascending places.
        var failures: [Failure] = []
        /// How many rows were inserted; the others were there already.
        var inserted = 0
        /// The place of the first row that was not tried before the deadline.
        var end = 0
    }

    /// The size of the largest part, so that a table that accepts rows slowly makes progress before the deadline.
    private static let largestPart = 1000

    private let target: LoadTarget
    /// Where the ids of the rows are remembered; `nil` if they need not be.
    private let recentIDs: RecentIDs?

    init(of target: LoadTarget, recentIDs: RecentIDs?) {
        self.target = target
        self.recentIDs = recentIDs
    }

    /// The function's name.
    var name: String {
        let kind = recentIDs == nil ? "" : "_recent"
        return "pg_temp." + SQLText.identifier("sluice_search_\(target.number)\(kind)")
    }

    /// Creates the function, for a key by which duplicates are recognized.
    ///
    /// Its variables are qualified by the label of its block, because a column of the table may have any of their names. The search
    /// catches a cancellation too, because a trigger can raise its code; the server itself raises it when the statement's timeout has
    /// passed, and not before.
    func create(key: [String]) -> String {
        let insert = target.insertFromStaging(
            key: key,
            recentIDs: recentIDs,
            where: "s.ctid = ANY (search.places[search.first:search.first + search.width - 1])"
        )
        let body = """
            #variable_conflict use_column
            <<search>>
            DECLARE
                places tid[] := ARRAY(SELECT s.ctid FROM pg_temp.\(target.staging) s ORDER BY s.\(target.place));
                number integer := cardinality(search.places);
                first integer := 1;
                width integer := least(search.number, $2);
                moved bigint;
                total bigint := 0;
            BEGIN
                WHILE search.first <= search.number LOOP
                    EXIT WHEN search.first > 1 AND clock_timestamp() >= $1;
                    BEGIN
                        \(insert);
                        GET DIAGNOSTICS moved = ROW_COUNT;
                        total := search.total + search.moved;
                        first := search.first + search.width;
                        width := least(search.width * 2, \(Self.largestPart));
                    EXCEPTION WHEN others OR assert_failure OR query_canceled THEN
                        IF SQLSTATE = '57014' AND clock_timestamp() >= statement_timestamp() + $3 THEN
                            IF search.first > 1 THEN EXIT; END IF;
                            RAISE;
                        END IF;
                        -- The lock of a partition or of a row: the next rows that need it shall not wait as long.
                        IF SQLSTATE = '55P03' THEN PERFORM set_config('lock_timeout', '20ms', true); END IF;
                        IF search.width > 1 AND search.first < search.number THEN
                            width := greatest(1, least(search.width, search.number - search.first + 1) / 4);
                        ELSE
                            GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
                                rule = CONSTRAINT_NAME, context = PG_EXCEPTION_CONTEXT;
                            place := search.first;
                            RETURN NEXT;
                            first := search.first + 1;
                        END IF;
                    END;
                END LOOP;
                place := least(search.first, search.number + 1); state := NULL; message := search.total;
                RETURN NEXT;
            END
            """
        return """
            CREATE OR REPLACE FUNCTION \(name)(timestamptz, integer, interval)
            RETURNS TABLE (place integer, state text, message text, rule text, context text)
            LANGUAGE plpgsql AS \(SQLText.literal(body))
            """
    }

    /// Runs the function; `time` is how long it may begin another part, `width` the size of the first one, and `timeout` the timeout of
    /// the statement.
    func run(for time: Duration, width: Int, timeout: Duration) -> String {
        """
        SELECT * FROM \(name)(clock_timestamp() + interval '\(time.milliseconds) milliseconds', \(width),
            interval '\(timeout.milliseconds) milliseconds')
        """
    }

    /// Reads the rows that the function returned.
    func result(_ rows: [[String?]]) throws(PostgresFailure) -> Result {
        var result = Result()
        var isComplete = false
        for row in rows where row.count == 5 {
            guard let place = row[0].flatMap({ Int($0) }) else { continue }
            guard let state = row[1] else {
                result.inserted = row[2].flatMap { Int($0) } ?? 0
                result.end = place - 1
                isComplete = true
                continue
            }
            let failure = PostgresFailure(
                source: .server,
                sqlState: state,
                message: row[2] ?? "",
                // The first line is the innermost: our own statement, unless a function that it calls has failed. The words around
                // it are in the server's language.
                isOfFunction: row[4].map { context in
                    let innermost = context.prefix { !$0.isNewline }
                    return !innermost.contains("INSERT INTO \(target.table.sqlName) (")
                } ?? false,
                constraint: row[3].flatMap { $0.isEmpty ? nil : $0 }
            )
            result.failures.append(Failure(place: place - 1, failure: failure))
        }
        guard isComplete else {
            throw PostgresFailure(source: .connection, message: "the server did not return the result of a search")
        }
        return result
    }
}
