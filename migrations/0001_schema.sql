-- The schema of the events' tables, and in it the record of the migrations that it has had.
--
-- `sluice migrate` runs each file here once, in a transaction of its own, with the schema first on search_path and its
-- name in the setting sluice.schema. A file that has been applied is never edited: what comes later is a new file.

DO $$
BEGIN
    -- A schema that somebody made for us is taken as it is: making one needs a right that we may not have.
    IF to_regnamespace(quote_ident(current_setting('sluice.schema'))) IS NULL THEN
        EXECUTE format('CREATE SCHEMA %I', current_setting('sluice.schema'));
        EXECUTE format('COMMENT ON SCHEMA %I IS %L', current_setting('sluice.schema'),
            'Events of the tracking plan: a table for each, a column for each property.');
    END IF;
END
$$;

CREATE TABLE _sluice_migrations (
    number integer PRIMARY KEY,
    name text NOT NULL,
    sha256 text NOT NULL,
    applied_at timestamp with time zone NOT NULL DEFAULT now()
);

COMMENT ON TABLE _sluice_migrations IS 'The migrations that this schema has had; written by sluice migrate.';
