extension TestDatabase {
    /// From now on records the id of each row that a committed transaction sends to a table.
    ///
    /// The trigger runs before a conflict is detected, so it also records duplicates that the primary key rejects.
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

    /// The recorded ids, one for each time that a row was sent.
    package func notedInserts() async throws -> [String] {
        try await run("SELECT id FROM public.sent ORDER BY id")
    }
}
