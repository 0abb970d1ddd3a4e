-- How far the feeds of a restored database are settled (docs/operations/backup.md).
-- accounts.restores has the restores, libs/common/postgres/restore_steps.hpp says what a step is.
CREATE TABLE webhooks.restore_steps (
    restore_id text NOT NULL,
    step text NOT NULL,
    position text NOT NULL DEFAULT '', -- the rows up to it are done
    row_count bigint NOT NULL DEFAULT 0,
    finished_at timestamptz,
    PRIMARY KEY (restore_id, step)
);
