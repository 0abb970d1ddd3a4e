-- POST requests that carried an Idempotency-Key: what was asked, the id chosen for the object, and the answer once there is one. Kept 24 h.
CREATE TABLE accounts.idempotency_key (
    account_id uuid NOT NULL,
    operation_sha256 bytea NOT NULL, -- of method and path
    key text NOT NULL,
    request_sha256 bytea NOT NULL,
    object_id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz, -- of the attempt under way; null when none is
    status integer, -- null until answered
    location text,
    content_type text,
    answer text, -- the body, sealed
    PRIMARY KEY (account_id, operation_sha256, key)
);
CREATE INDEX idempotency_key_age ON accounts.idempotency_key (created_at);
