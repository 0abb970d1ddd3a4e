-- Accounts, their plans, keys and sign-in. Everything else about an account lives with the service
-- that owns it.

-- What a plan allows and costs.
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
    routing_rules integer NOT NULL,
    -- In the operator's one currency: an amount, and what it pays for.
    price_amount numeric(10, 2) NOT NULL DEFAULT 0 CHECK (price_amount >= 0),
    price_period text NOT NULL DEFAULT 'none' CHECK (price_period IN ('none', 'once', 'month'))
);
INSERT INTO accounts.plans (
    plan, position, api_access, requests_per_day, burst_per_second, live_inboxes,
    default_ttl_seconds, max_ttl_seconds, max_message_bytes, webhooks, api_keys, routing_rules,
    price_amount, price_period
) VALUES
    ('free', 1, false, 0, 0, 1, 3600, 3600, 5242880, 0, 0, 0, 0, 'none'),
    ('starter', 2, false, 0, 0, 5, 86400, 86400, 10485760, 0, 0, 0, 3, 'month'),
    ('pass7', 3, true, 3000, 50, 50, 86400, 604800, 26214400, 1, 1, 0, 2, 'once'),
    ('pro', 4, true, 3000, 50, 100, 86400, 604800, 26214400, 1, 1, 0, 7, 'month'),
    ('business', 5, true, 10000, 100, 500, 86400, 2592000, 26214400, 3, 1, 0, 15, 'month'),
    ('premium', 6, true, 10000, 200, 2000, 86400, 2592000, 26214400, 5, 5, 20, 29, 'month');

-- One row, incremented in the transaction of every change to accounts and keys: its order is the
-- order of commits.
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
-- What deleted accounts left is purged after a day.
CREATE INDEX accounts_deleted ON accounts.accounts (deleted_at) WHERE deleted_at IS NOT NULL;

-- An account with the numbers of its plan and, for when the plan ends, of the free one.
CREATE VIEW accounts.states AS
SELECT a.account_id, a.email, a.plan, a.version, a.deleted_at IS NOT NULL AS is_deleted,
    (extract(epoch FROM a.created_at) * 1000000)::bigint AS created_micros,
    (extract(epoch FROM a.plan_ends_at) * 1000000)::bigint AS plan_ends_micros,
    p.api_access, p.requests_per_day, p.burst_per_second, p.live_inboxes, p.default_ttl_seconds,
    p.max_ttl_seconds, p.max_message_bytes, p.webhooks, p.api_keys, p.routing_rules,
    f.api_access AS free_api_access, f.requests_per_day AS free_requests_per_day,
    f.burst_per_second AS free_burst_per_second, f.live_inboxes AS free_live_inboxes,
    f.default_ttl_seconds AS free_default_ttl_seconds, f.max_ttl_seconds AS free_max_ttl_seconds,
    f.max_message_bytes AS free_max_message_bytes, f.webhooks AS free_webhooks,
    f.api_keys AS free_api_keys, f.routing_rules AS free_routing_rules
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

-- POST requests that carried an Idempotency-Key: a digest of the request, the id chosen for the
-- object, and the response once there is one. Kept 24 h.
CREATE TABLE accounts.idempotency_keys (
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
CREATE INDEX idempotency_keys_age ON accounts.idempotency_keys (created_at);

-- People who sign in to the dashboard: one password an account. An account without a row is used by
-- its keys alone.
CREATE TABLE accounts.users (
    account_id uuid PRIMARY KEY REFERENCES accounts.accounts,
    password_hash text NOT NULL, -- argon2id, with its parameters and salt
    changed_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE accounts.sessions (
    session_sha256 bytea PRIMARY KEY, -- of the token that the browser holds
    account_id uuid NOT NULL REFERENCES accounts.accounts,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
);
CREATE INDEX sessions_account ON accounts.sessions (account_id);
CREATE INDEX sessions_expiry ON accounts.sessions (expires_at);

-- Attempts that failed or are under way, by the subject they count against: an address, or an
-- account's email address.
CREATE TABLE accounts.attempts (
    subject_sha256 bytea NOT NULL,
    attempt_id uuid NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (subject_sha256, attempt_id)
);
CREATE INDEX attempts_age ON accounts.attempts (at);

-- One-time links that set a password; a new one replaces an account's older one.
CREATE TABLE accounts.password_resets (
    account_id uuid PRIMARY KEY REFERENCES accounts.accounts,
    token_sha256 bytea NOT NULL UNIQUE,
    expires_at timestamptz NOT NULL
);
CREATE INDEX password_resets_expiry ON accounts.password_resets (expires_at);

-- Sign-ups that wait for the code that was mailed to them.
CREATE TABLE accounts.sign_ups (
    email text PRIMARY KEY, -- lower case
    code_sha256 bytea NOT NULL,
    wrong_codes integer NOT NULL DEFAULT 0,
    expires_at timestamptz NOT NULL
);
CREATE INDEX sign_ups_expiry ON accounts.sign_ups (expires_at);

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
