-- The ids of recent events whose time Sluice gave or corrected, so that a table whose key contains the time has each of them once.
--
-- `sluice serve` and `sluice load` store an id in the transaction of its row. There are two halves: new ids go to the current one, and
-- after a week the other one is emptied and becomes the current one. So each id is remembered for at least 7 days.

CREATE TABLE _sluice_recent_ids (
    half smallint NOT NULL,
    id uuid NOT NULL,
    event_table text NOT NULL,
    PRIMARY KEY (id, event_table, half)
) PARTITION BY LIST (half);

CREATE TABLE _sluice_recent_ids_0 PARTITION OF _sluice_recent_ids FOR VALUES IN (0);
CREATE TABLE _sluice_recent_ids_1 PARTITION OF _sluice_recent_ids FOR VALUES IN (1);

COMMENT ON TABLE _sluice_recent_ids IS
    'The ids of recent events whose time Sluice gave or corrected; written by sluice serve and sluice load.';

CREATE TABLE _sluice_recent_ids_current (
    half smallint NOT NULL,
    since timestamp with time zone NOT NULL DEFAULT now()
);

CREATE UNIQUE INDEX _sluice_recent_ids_current_one ON _sluice_recent_ids_current ((true));

INSERT INTO _sluice_recent_ids_current (half) VALUES (0);

COMMENT ON TABLE _sluice_recent_ids_current IS
    'Which half of _sluice_recent_ids gets new ids, and since when; written by sluice serve and sluice load.';
