import TestSupport
import Testing

/// Terminates the session of Sluice once before and once after each of its statements that change the schema.
///
/// A session that is terminated after a statement has not committed it, unless the statement commits by itself.
struct StatementKiller {
    private let database: TestDatabase

    init(in database: TestDatabase) async throws {
        self.database = database
        // A file survives the transaction. The text of the query and the number within its transaction identify a statement; some
        // statements commit a transaction themselves, so the number may be the same before and after.
        try await database.run(
            """
            CREATE SCHEMA killing;
            CREATE FUNCTION killing.kill() RETURNS event_trigger LANGUAGE plpgsql AS $$
            DECLARE
                number int := coalesce(nullif(current_setting('killing.number', true), ''), '0')::int + 1;
                file text := '\(prefix)' || md5(TG_EVENT || number || current_query());
            BEGIN
                IF current_setting('application_name') <> 'sluice' THEN RETURN; END IF;
                PERFORM set_config('killing.number', number::text, true);
                IF (pg_stat_file(file, true)).size IS NULL THEN
                    EXECUTE format('COPY (SELECT %L) TO %L', TG_TAG, current_setting('data_directory') || '/' || file);
                    PERFORM pg_terminate_backend(pg_backend_pid());
                    -- The server looks for the signal before each statement.
                    PERFORM 1;
                END IF;
            END $$;
            CREATE EVENT TRIGGER before_statement ON ddl_command_start EXECUTE FUNCTION killing.kill();
            CREATE EVENT TRIGGER after_statement ON ddl_command_end EXECUTE FUNCTION killing.kill();
            """
        )
    }

    /// The kinds of the statements at which a session was terminated, such as `ALTER TABLE`, with how many times.
    var kills: [String: Int] {
        get async throws {
            let files = "pg_ls_dir(current_setting('data_directory')) AS file WHERE starts_with(file, '\(prefix)')"
            let kinds = try await database.run("SELECT trim(E'\\n' FROM pg_read_file(file)) FROM \(files)")
            return kinds.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
    }

    /// Repeats `body`, which returns why it failed, until it returns nil.
    ///
    /// Fails the test if `body` failed although no session was terminated.
    func untilComplete(_ body: () async throws -> String?) async throws {
        var before = 0
        while let failure = try await body() {
            let kills = try await kills.values.reduce(0, +)
            try #require(kills > before, "\(failure)")
            before = kills
        }
    }

    private var prefix: String { "killed-\(database.name)-" }
}
