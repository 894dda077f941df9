-- The time in the id of an event, for ids of the versions 7 and 8 that Sluice makes (RFC 9562).
--
-- A lookup by id alone reads an index of each partition. With the time in the id, it reads one:
--     SELECT * FROM bought WHERE id = '…' AND occurred_at BETWEEN event_time('…') - interval '1 day' AND …
-- Version 7 states the time in its first 48 bits, in milliseconds. Version 8 leaves its bits to whoever makes the id; Sluice's
-- have the same layout. Ids of other versions have no time, and others' ids of version 8 may have another one.

CREATE FUNCTION event_time(id uuid) RETURNS timestamp with time zone
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$
    SELECT CASE WHEN substr(id::text, 15, 1) IN ('7', '8') THEN
        to_timestamp(('x0000' || replace(substr(id::text, 1, 13), '-', ''))::bit(64)::bigint / 1000.0)
    END
$$;

COMMENT ON FUNCTION event_time(uuid) IS
    'The time in an id of version 7 or 8, to the millisecond; NULL for other versions.';
