-- Accounts, their plans and keys. Everything else about an account lives with the service that owns it.

CREATE TABLE accounts.plans (
    plan text PRIMARY KEY,
    position integer NOT NULL,
    api_access boolean NOT NULL,
    requests_per_day bigint NOT NULL,
    burst_per_second integer NOT NULL, -- 0: unlimited
    live_inboxes integer NOT NULL,
    default_ttl_seconds bigint NOT NULL,
    max_ttl_seconds bigint NOT NULL,
    max_message_bytes bigint NOT NULL,
    webhooks integer NOT NULL,
    api_keys integer NOT NULL,
    routing_rules integer NOT NULL
);
INSERT INTO accounts.plans VALUES
    ('free', 1, false, 0, 0, 1, 3600, 3600, 5242880, 0, 0, 0),
    ('starter', 2, false, 0, 0, 5, 86400, 86400, 10485760, 0, 0, 0),
    ('pass7', 3, true, 3000, 50, 50, 86400, 604800, 26214400, 1, 1, 0),
    ('pro', 4, true, 3000, 50, 100, 86400, 604800, 26214400, 1, 1, 0),
    ('business', 5, true, 10000, 100, 500, 86400, 2592000, 26214400, 3, 1, 0),
    ('premium', 6, true, 10000, 200, 2000, 86400, 2592000, 26214400, 5, 5, 20);

-- One row, incremented in the transaction of every change to accounts and keys: its order is the order of commits.
CREATE TABLE accounts.changes (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version bigint NOT NULL
);
INSERT INTO accounts.changes (version) VALUES (0);

CREATE TABLE accounts.accounts (
    account_id uuid PRIMARY KEY,
    email text NOT NULL,
    plan text NOT NULL REFERENCES accounts.plans,
    plan_ends_at timestamptz,
    version bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    deleted_at timestamptz
);
CREATE UNIQUE INDEX accounts_email ON accounts.accounts (lower(email)) WHERE deleted_at IS NULL;
CREATE INDEX accounts_version ON accounts.accounts (version);

-- An account with the numbers of its plan and, for when the plan ends, of the free one.
CREATE VIEW accounts.states AS
SELECT a.account_id, a.email, a.plan, a.version, a.deleted_at IS NOT NULL AS is_deleted,
    (extract(epoch FROM a.created_at) * 1000000)::bigint AS created_micros,
    (extract(epoch FROM a.plan_ends_at) * 1000000)::bigint AS plan_ends_micros,
    p.api_access, p.requests_per_day, p.burst_per_second, p.live_inboxes, p.default_ttl_seconds, p.max_ttl_seconds,
    p.max_message_bytes, p.webhooks, p.api_keys, p.routing_rules,
    f.api_access AS free_api_access, f.requests_per_day AS free_requests_per_day, f.burst_per_second AS free_burst_per_second,
    f.live_inboxes AS free_live_inboxes, f.default_ttl_seconds AS free_default_ttl_seconds, f.max_ttl_seconds AS free_max_ttl_seconds,
    f.max_message_bytes AS free_max_message_bytes, f.webhooks AS free_webhooks, f.api_keys AS free_api_keys,
    f.routing_rules AS free_routing_rules
FROM accounts.accounts a
JOIN accounts.plans p ON p.plan = a.plan
JOIN accounts.plans f ON f.plan = 'free';

CREATE TABLE accounts.api_keys (
    account_id uuid NOT NULL REFERENCES accounts.accounts,
    key_id uuid NOT NULL,
    label text NOT NULL,
    prefix text NOT NULL, -- what may be shown: ti_live_ and four characters
    key_sha256 bytea NOT NULL,
    version bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz,
    revoked_at timestamptz,
    PRIMARY KEY (account_id, key_id)
);
CREATE UNIQUE INDEX api_keys_hash ON accounts.api_keys (key_sha256);
CREATE UNIQUE INDEX api_keys_id ON accounts.api_keys (key_id);
CREATE INDEX api_keys_version ON accounts.api_keys (version);

CREATE TABLE accounts.outbox (
    event_id uuid PRIMARY KEY,
    topic text NOT NULL,
    key text NOT NULL,
    sequence bigint NOT NULL,
    headers text NOT NULL, -- `name: value` lines
    payload bytea,
    owner text NOT NULL,
    lease_until timestamptz NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX outbox_lease_end ON accounts.outbox (lease_until);
