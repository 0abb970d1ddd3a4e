-- A made-up event, sent as a test: a replay leaves it out.
ALTER TABLE webhooks.due ADD COLUMN is_test boolean NOT NULL DEFAULT false;
ALTER TABLE webhooks.delivery ADD COLUMN is_test boolean NOT NULL DEFAULT false;

-- Accounts that were deleted and whose deliveries are not yet: removed in small steps, each of which moves a position.
CREATE TABLE webhooks.deleted_account (
    account_id uuid PRIMARY KEY,
    webhook_ids uuid[] NOT NULL,
    deleted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    event_position uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000', -- the events up to this one are looked at
    routing_position uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'
) WITH (fillfactor = 70);
