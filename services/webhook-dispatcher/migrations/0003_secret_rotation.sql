-- Signing secrets that a rotation replaced: each signs beside the present one until its time.
CREATE TABLE webhooks.previous_secret (
    account_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    rotation_id uuid NOT NULL, -- of the rotation that replaced it
    sealed_secret text NOT NULL,
    valid_until timestamptz NOT NULL,
    PRIMARY KEY (account_id, webhook_id, rotation_id),
    FOREIGN KEY (account_id, webhook_id) REFERENCES webhooks.endpoint ON DELETE CASCADE
);

-- The two dropped columns were never written: there was no rotation.
ALTER TABLE webhooks.endpoint
    DROP COLUMN previous_sealed_secret,
    DROP COLUMN previous_secret_until,
    ADD COLUMN rotation_id uuid, -- of the last rotation, which repeated is the same
    ADD COLUMN renewed_at timestamptz NOT NULL DEFAULT clock_timestamp(); -- last made, switched on or given a URL: what failed before says nothing
CREATE INDEX endpoint_renewed ON webhooks.endpoint (renewed_at); -- replicas whose breaker is open look for these
