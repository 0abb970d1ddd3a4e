-- contract of v0.2.0
-- The rows of an account can be copied to another database and deleted here (docs/operations/
-- scaling.md). Releases before 0.2.0 write outbox rows without an account: services are stopped
-- while this runs. The tables are small.

-- The id comes first: whoever deletes an event knows it alone, and new ones come in order. What
-- this schema publishes has its account as key.
ALTER TABLE accounts.outbox ADD COLUMN account_id uuid;
UPDATE accounts.outbox SET account_id = key::uuid;
ALTER TABLE accounts.outbox
    ALTER COLUMN account_id SET NOT NULL,
    DROP CONSTRAINT outbox_pkey,
    ADD PRIMARY KEY (event_id, account_id);

-- A session is found by its digest alone, so that stays the key; replication identifies it by the
-- account, too.
DROP INDEX accounts.sessions_account;
CREATE UNIQUE INDEX sessions_account ON accounts.sessions (account_id, session_sha256);
ALTER TABLE accounts.sessions REPLICA IDENTITY USING INDEX sessions_account;
