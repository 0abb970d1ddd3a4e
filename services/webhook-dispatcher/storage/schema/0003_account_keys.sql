-- contract of v0.2.0
-- Every key names the account first, so that the rows of some accounts can be copied to another
-- database and deleted here (docs/operations/scaling.md). Releases before 0.2.0 look for the older
-- keys: services are stopped while this runs.
-- It rewrites no table. It builds the index of each partition anew, two of those of deliveries, and
-- four of due_deliveries: some seconds for a million events, and until the commit the disk holds
-- the older indexes beside the newer ones.

ALTER TABLE webhooks.events DROP CONSTRAINT events_pkey, ADD PRIMARY KEY (account_id, event_id);
ALTER TABLE webhooks.routings DROP CONSTRAINT routings_pkey, ADD PRIMARY KEY (account_id, event_id);
ALTER TABLE webhooks.attempts
    DROP CONSTRAINT attempts_pkey,
    ADD PRIMARY KEY (account_id, event_id, webhook_id, number, lease_id);

-- The webhook comes before the event, so that its log reads the key and needs no index of its own.
DROP INDEX webhooks.deliveries_of_webhook;
DROP INDEX webhooks.deliveries_failed;
ALTER TABLE webhooks.deliveries
    DROP CONSTRAINT deliveries_pkey,
    ADD PRIMARY KEY (account_id, webhook_id, event_id);
CREATE INDEX deliveries_failed ON webhooks.deliveries (account_id, webhook_id, event_id)
    WHERE state <> 'succeeded';

DROP INDEX webhooks.due_deliveries_waiting;
DROP INDEX webhooks.due_deliveries_waiting_for_webhook;
DROP INDEX webhooks.due_deliveries_replayed;
ALTER TABLE webhooks.due_deliveries
    DROP CONSTRAINT due_deliveries_pkey,
    ADD PRIMARY KEY (account_id, webhook_id, event_id);
CREATE INDEX due_deliveries_waiting
    ON webhooks.due_deliveries (run_at, event_id, webhook_id, is_retry, account_id)
    WHERE lease_id IS NULL;
CREATE INDEX due_deliveries_waiting_for_webhook
    ON webhooks.due_deliveries (account_id, webhook_id, is_retry, run_at) WHERE lease_id IS NULL;
-- Deliveries put back by a replay and not yet tried: few at a time for each webhook, so it must be
-- cheap to count them.
CREATE INDEX due_deliveries_replayed ON webhooks.due_deliveries (account_id, webhook_id)
    WHERE is_retry AND attempts = 0;

ALTER TABLE webhooks.failing_endpoints
    DROP CONSTRAINT failing_endpoints_pkey,
    ADD PRIMARY KEY (account_id, webhook_id);

DROP INDEX webhooks.replays_of_webhook;
ALTER TABLE webhooks.replays DROP CONSTRAINT replays_pkey, ADD PRIMARY KEY (account_id, replay_id);
CREATE INDEX replays_of_webhook ON webhooks.replays (account_id, webhook_id);

-- What it holds is a minute old at most.
DELETE FROM webhooks.manual_limits;
ALTER TABLE webhooks.manual_limits
    ADD COLUMN account_id uuid NOT NULL,
    DROP CONSTRAINT manual_limits_pkey,
    ADD PRIMARY KEY (account_id, webhook_id, kind);

-- Everything of a deleted account is found by the account now.
ALTER TABLE webhooks.deleted_accounts
    DROP COLUMN webhook_ids,
    DROP COLUMN event_position,
    DROP COLUMN routing_position;
