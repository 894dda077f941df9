-- How far each loader has loaded each partition of a Kafka topic, and the records that it has not loaded.
--
-- `sluice load` stores its offsets and refused records in the transactions of its rows, so that each record counts once.
-- It needs SELECT, INSERT and UPDATE on the offsets, SELECT, INSERT, UPDATE and DELETE on the refused records, and INSERT
-- on the accepted losses.

CREATE TABLE _sluice_loader_offsets (
    loader text,
    tracker text,
    cluster text,
    topic text,
    partition integer,
    next_offset bigint NOT NULL,
    epoch bigint NOT NULL,
    last_record jsonb,
    owner text,
    backend_pid integer,
    backend_start timestamp with time zone,
    updated_at timestamp with time zone NOT NULL,
    PRIMARY KEY (loader, tracker, cluster, topic, partition)
);

COMMENT ON TABLE _sluice_loader_offsets IS
    'How far each loader has loaded each partition of a Kafka topic; written by sluice load.';
COMMENT ON COLUMN _sluice_loader_offsets.cluster IS 'The id of the Kafka cluster.';
COMMENT ON COLUMN _sluice_loader_offsets.next_offset IS 'The offset of the first record that is not loaded.';
COMMENT ON COLUMN _sluice_loader_offsets.epoch IS
    'Grows with each claim; a transaction commits only under the epoch of its own claim.';
COMMENT ON COLUMN _sluice_loader_offsets.last_record IS
    'Offset, id and timestamp of the last record that was loaded; a topic that was recreated has another one there.';
COMMENT ON COLUMN _sluice_loader_offsets.owner IS 'The process that has claimed the partition.';
COMMENT ON COLUMN _sluice_loader_offsets.backend_pid IS
    'The process of the owner''s session (pg_stat_activity.pid); NULL behind a pooler.';
COMMENT ON COLUMN _sluice_loader_offsets.backend_start IS
    'When that session began (pg_stat_activity.backend_start); NULL behind a pooler.';

CREATE TABLE _sluice_refused (
    loader text,
    tracker text,
    cluster text,
    topic text,
    partition integer,
    record_offset bigint,
    key bytea,
    value bytea,
    headers jsonb,
    verdict jsonb,
    refused_at timestamp with time zone,
    PRIMARY KEY (loader, tracker, cluster, topic, partition, record_offset)
);

-- For the removal of expired records.
CREATE INDEX _sluice_refused_refused_at ON _sluice_refused (refused_at);

COMMENT ON TABLE _sluice_refused IS
    'Records that do not follow the plan, or that this database refuses: the dead-letter queue of sluice load.';
COMMENT ON COLUMN _sluice_refused.headers IS
    'An array of objects with name and value, as text; invalid UTF-8 and NUL are replaced by U+FFFD.';
COMMENT ON COLUMN _sluice_refused.verdict IS 'Why the record was refused.';

CREATE TABLE _sluice_accepted_losses (
    loader text,
    tracker text,
    cluster text,
    topic text,
    partition integer,
    first_offset bigint NOT NULL,
    next_offset bigint NOT NULL,
    reason text NOT NULL,
    accepted_at timestamp with time zone DEFAULT now(),
    PRIMARY KEY (loader, tracker, cluster, topic, partition, accepted_at)
);

COMMENT ON TABLE _sluice_accepted_losses IS
    'Losses of records that an operator has accepted with sluice load --accept-loss.';
COMMENT ON COLUMN _sluice_accepted_losses.first_offset IS 'The offset of the first record that was not loaded.';
COMMENT ON COLUMN _sluice_accepted_losses.next_offset IS 'The offset at which the loader continued.';
