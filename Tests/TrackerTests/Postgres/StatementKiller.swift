import TestSupport
import Testing

/// Terminates the session of Sluice once before and once after each of its statements that change the schema.
///
/// A session that is terminated after a statement has not committed it, unless the statement commits by itself.
struct StatementKiller {
    private let database: TestDatabase

    init(in database: TestDatabase) async throws {
        self.database = database
        // A file survives the transaction. The text of the query and the number within its transaction identify a statement.
        try await database.run(
            """
            CREATE SCHEMA killing;
            CREATE FUNCTION killing.kill() RETURNS event_trigger LANGUAGE plpgsql AS $$
            DECLARE
                number int := coalesce(nullif(current_setting('killing.number', true), ''), '0')::int + 1;
                file text := '\(prefix)' || md5(number || current_query());
            BEGIN
                IF current_setting('application_name') <> 'sluice' THEN RETURN; END IF;
                PERFORM set_config('killing.number', number::text, true);
                IF (pg_stat_file(file, true)).size IS NULL THEN
                    EXECUTE format('COPY (SELECT 1) TO %L', current_setting('data_directory') || '/' || file);
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

    /// How many times a session was terminated.
    var kills: Int {
        get async throws {
            let files = "pg_ls_dir(current_setting('data_directory')) AS file WHERE starts_with(file, '\(prefix)')"
            return Int(try await database.run("SELECT count(*) FROM \(files)").first ?? "") ?? -1
        }
    }

    /// Runs `body` until it says that it is complete, which it may fail to be only because its session was terminated.
    func untilComplete(_ body: () async throws -> Bool) async throws {
        var before = 0
        while try await !body() {
            let kills = try await kills
            try #require(kills > before, "the run failed for another reason")
            before = kills
        }
    }

    private var prefix: String { "killed-\(database.name)-" }
}
