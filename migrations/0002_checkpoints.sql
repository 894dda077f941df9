-- How far a tracker has got in a journal, stored in the transactions of its rows.
--
-- `sluice serve` with a journal asks for it at its start and goes on from there, so that each row is sent once. Whoever
-- loads the events' tables needs SELECT, INSERT and UPDATE here.

CREATE TABLE _sluice_checkpoints (
    journal uuid NOT NULL,
    tracker text NOT NULL,
    next_sequence bigint NOT NULL,
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    PRIMARY KEY (journal, tracker)
);

COMMENT ON TABLE _sluice_checkpoints IS 'How far each tracker has got in each journal; written by sluice serve.';
COMMENT ON COLUMN _sluice_checkpoints.journal IS 'The identity that sluice journal inspect shows.';
COMMENT ON COLUMN _sluice_checkpoints.next_sequence IS 'The number of the first event that is not in the tables yet.';
