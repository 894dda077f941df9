-- Which session of the server stores a tracker's checkpoints, so that the next one can end it.
--
-- A session that reads rows from a network that has gone silent keeps the tracker's advisory lock until it is ended. A
-- tracker records its session before its first delivery, when nothing may be stored yet.

ALTER TABLE _sluice_checkpoints
    ADD COLUMN backend_start timestamp with time zone,
    ALTER COLUMN next_sequence DROP NOT NULL;

COMMENT ON COLUMN _sluice_checkpoints.next_sequence IS
    'The number of the first event that is not in the tables yet; NULL while nothing is stored.';
COMMENT ON COLUMN _sluice_checkpoints.backend_start IS
    'When the session began that stores the checkpoints (pg_stat_activity.backend_start); NULL behind a pooler.';
