extension TestDatabase {
    /// From now on notes the id of each row that is sent to a table in a transaction that is committed.
    ///
    /// The triggers of a row come before its conflicts, so that a repetition is noted, too, which the primary key hides.
    package func noteInserts(into table: String) async throws {
        try await run(
            """
            CREATE TABLE IF NOT EXISTS public.sent (id uuid);
            CREATE OR REPLACE FUNCTION public.note_insert() RETURNS trigger LANGUAGE plpgsql AS
                $$BEGIN INSERT INTO public.sent VALUES (NEW.id); RETURN NEW; END$$;
            CREATE TRIGGER note_insert BEFORE INSERT ON \(table) FOR EACH ROW EXECUTE FUNCTION public.note_insert()
            """
        )
    }

    /// The ids that were noted, as often as their rows were sent.
    package func notedInserts() async throws -> [String] {
        try await run("SELECT id FROM public.sent ORDER BY id")
    }
}
