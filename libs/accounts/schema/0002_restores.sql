-- Restores of the database to an earlier moment (docs/operations/backup.md), and how far each is
-- settled. libs/common/postgres/restore_steps.hpp says what a step is.
CREATE TABLE accounts.restores (
    restore_id text PRIMARY KEY, -- system identifier and timeline of the restored server
    moment timestamptz NOT NULL, -- what was committed later is lost
    keeps_keys boolean NOT NULL,
    version bigint NOT NULL, -- of accounts.changes, for all that is published again
    began_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    offsets_set_at timestamptz,
    settled_at timestamptz
);
CREATE TABLE accounts.restore_steps (
    restore_id text NOT NULL,
    step text NOT NULL,
    position text NOT NULL DEFAULT '', -- the rows up to it are done
    row_count bigint NOT NULL DEFAULT 0,
    finished_at timestamptz,
    PRIMARY KEY (restore_id, step)
);

-- Set by a restore: the key may have been revoked after the moment. It is refused until the
-- operator activates it.
ALTER TABLE accounts.api_keys ADD COLUMN suspended_at timestamptz;
