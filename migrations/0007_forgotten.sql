-- Whose events were erased (sluice forget), as keyed hashes, and what was erased.
--
-- `sluice check` compares the tombstones with the receipts: if some are missing here, the database was restored from a
-- backup, and the people are back. It needs SELECT on the tombstones; `sluice forget` runs as the owner of the tables.

CREATE TABLE _sluice_forgotten (
    subject text,
    hash text,
    requested_at timestamp with time zone NOT NULL,
    receipt uuid NOT NULL,
    PRIMARY KEY (subject, hash)
);

COMMENT ON TABLE _sluice_forgotten IS
    'Tombstones of people whose events were erased; written by sluice forget.';
COMMENT ON COLUMN _sluice_forgotten.subject IS 'What the hash is of: user (user_id) or anonymous (anonymous_id).';
COMMENT ON COLUMN _sluice_forgotten.hash IS
    'HMAC-SHA-256 of the identifier under privacy.hashKeyFile, in hexadecimal digits.';
COMMENT ON COLUMN _sluice_forgotten.requested_at IS 'Events that were received before this time were erased.';
COMMENT ON COLUMN _sluice_forgotten.receipt IS 'The id of the receipt.';

CREATE TABLE _sluice_erased (
    receipt uuid,
    schema_name name,
    table_name name,
    place text NOT NULL,
    events bigint NOT NULL,
    vacuumed_at timestamp with time zone,
    PRIMARY KEY (receipt, schema_name, table_name)
);

COMMENT ON TABLE _sluice_erased IS
    'How many rows were erased for each receipt, so that an interrupted erasure can be resumed; written by sluice forget.';
COMMENT ON COLUMN _sluice_erased.table_name IS 'The table, or the partition, that had the rows.';
COMMENT ON COLUMN _sluice_erased.place IS 'The table as the receipt names it.';
COMMENT ON COLUMN _sluice_erased.vacuumed_at IS 'When the table was vacuumed after the last rows were erased.';
