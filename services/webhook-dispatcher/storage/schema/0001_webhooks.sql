-- Webhook endpoints, routing rules, and deliveries on their way from an event to a receiver.

-- Its name and its columns are those of common/plans.
CREATE TABLE webhooks.account_states (
    account_id uuid PRIMARY KEY,
    version bigint NOT NULL,
    state bytea NOT NULL
);

-- One row for each account that ever had an endpoint. Every transaction that changes the account's
-- endpoints, rules or plan increments the version first; the row's lock puts these transactions in
-- order.
CREATE TABLE webhooks.config_versions (
    account_id uuid PRIMARY KEY,
    version bigint NOT NULL
) WITH (fillfactor = 70);

CREATE TABLE webhooks.endpoints (
    account_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    url text NOT NULL,
    events text[] NOT NULL,
    description text NOT NULL,
    is_enabled boolean NOT NULL DEFAULT true,
    disabled_reason text, -- null if the account switched it off itself
    sealed_secret text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    rotation_id uuid, -- of the last rotation; repeating that rotation changes nothing
    -- When it was last made, switched on or given a URL: earlier failures do not count.
    renewed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The gateway emails the account when the service switched the endpoint off.
    notice_id uuid, -- of this switching off
    notice_at timestamptz, -- when the gateway may claim the notice next; null: there is none
    PRIMARY KEY (account_id, webhook_id)
) WITH (fillfactor = 80);
-- Replicas whose breaker is open look for renewed endpoints.
CREATE INDEX endpoints_renewed ON webhooks.endpoints (renewed_at);
CREATE INDEX endpoints_notice ON webhooks.endpoints (notice_at) WHERE notice_at IS NOT NULL;

-- Signing secrets that a rotation replaced: each signs beside the present one until its time.
CREATE TABLE webhooks.previous_secrets (
    account_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    rotation_id uuid NOT NULL, -- of the rotation that replaced it
    sealed_secret text NOT NULL,
    valid_until timestamptz NOT NULL,
    PRIMARY KEY (account_id, webhook_id, rotation_id),
    FOREIGN KEY (account_id, webhook_id) REFERENCES webhooks.endpoints ON DELETE CASCADE
);

-- Endpoints whose attempts fail, counted since the last success that is known here. Written every
-- few seconds, not with each attempt.
CREATE TABLE webhooks.failing_endpoints (
    webhook_id uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    failures bigint NOT NULL,
    first_failure_at timestamptz NOT NULL,
    last_failure_at timestamptz NOT NULL
) WITH (fillfactor = 70);

CREATE TABLE webhooks.rules (
    account_id uuid NOT NULL,
    rule_id uuid NOT NULL,
    name text NOT NULL,
    webhook_id uuid NOT NULL,
    conditions jsonb NOT NULL, -- [{"field", "operator", "value"}], 0 to 5
    is_enabled boolean NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (account_id, rule_id),
    FOREIGN KEY (account_id, webhook_id) REFERENCES webhooks.endpoints
);
CREATE INDEX rules_webhook ON webhooks.rules (account_id, webhook_id);

-- An event that some endpoint gets, with the exact bytes that are signed and sent. event_id is a
-- UUIDv7: partitions are days of it, as for deliveries, attempts and routings, so that everything
-- about an event goes at once.
CREATE TABLE webhooks.events (
    event_id uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    type text NOT NULL,
    occurred_at timestamptz NOT NULL,
    body bytea NOT NULL,
    traceparent text
) PARTITION BY RANGE (event_id);
CREATE TABLE webhooks.events_default PARTITION OF webhooks.events DEFAULT;

-- Deliveries that are not finished, and nothing else. Every write after a claim is fenced by
-- lease_id. The webhook comes first in the key, because the log of one webhook reads its unfinished
-- deliveries in the order of their events.
CREATE TABLE webhooks.due_deliveries (
    event_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    account_id uuid NOT NULL,
    attempts smallint NOT NULL DEFAULT 0, -- made so far
    is_retry boolean NOT NULL DEFAULT false,
    run_at timestamptz NOT NULL,
    lease_id uuid,
    lease_until timestamptz,
    rule_ids uuid[] NOT NULL DEFAULT '{}',
    last_status smallint,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    began_at timestamptz, -- when the schedule began anew, if the delivery is sent once more
    is_test boolean NOT NULL DEFAULT false, -- of a made-up event: a replay leaves it out
    PRIMARY KEY (webhook_id, event_id),
    CHECK ((lease_id IS NULL) = (lease_until IS NULL))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX due_deliveries_waiting
    ON webhooks.due_deliveries (run_at, event_id, webhook_id, is_retry) WHERE lease_id IS NULL;
CREATE INDEX due_deliveries_waiting_for_webhook
    ON webhooks.due_deliveries (webhook_id, is_retry, run_at) WHERE lease_id IS NULL;
CREATE INDEX due_deliveries_lease_end
    ON webhooks.due_deliveries (lease_until) WHERE lease_id IS NOT NULL;
-- Deliveries put back by a replay and not yet tried: few at a time for each webhook, so it must be
-- cheap to count them.
CREATE INDEX due_deliveries_replayed
    ON webhooks.due_deliveries (webhook_id) WHERE is_retry AND attempts = 0;

-- Finished deliveries: one row for each event and endpoint, which also keeps a repeated event from
-- being delivered again.
CREATE TABLE webhooks.deliveries (
    event_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    account_id uuid NOT NULL,
    state text NOT NULL CHECK (state IN ('succeeded', 'exhausted', 'aborted', 'skipped_disabled')),
    attempts smallint NOT NULL,
    last_status smallint,
    reason text, -- why it failed, for people
    rule_ids uuid[] NOT NULL,
    created_at timestamptz NOT NULL,
    finished_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    is_test boolean NOT NULL DEFAULT false,
    PRIMARY KEY (event_id, webhook_id)
) PARTITION BY RANGE (event_id);
CREATE TABLE webhooks.deliveries_default PARTITION OF webhooks.deliveries DEFAULT;
CREATE INDEX deliveries_of_webhook ON webhooks.deliveries (webhook_id, event_id);
CREATE INDEX deliveries_failed ON webhooks.deliveries (webhook_id, event_id)
    WHERE state <> 'succeeded';

-- Every request that was sent; rows are only added.
CREATE TABLE webhooks.attempts (
    event_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    number smallint NOT NULL,
    lease_id uuid NOT NULL, -- tells two senders of one attempt apart
    account_id uuid NOT NULL,
    at timestamptz NOT NULL,
    duration_ms integer NOT NULL,
    status smallint, -- null: no status line came
    error text,
    response_body text, -- at most 1 KiB
    PRIMARY KEY (event_id, webhook_id, number, lease_id)
) PARTITION BY RANGE (event_id);
CREATE TABLE webhooks.attempts_default PARTITION OF webhooks.attempts DEFAULT;

-- What the account's rules said about an email, in their order at that moment.
CREATE TABLE webhooks.routings (
    event_id uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    rule_ids uuid[] NOT NULL,
    matched boolean[] NOT NULL
) PARTITION BY RANGE (event_id);
CREATE TABLE webhooks.routings_default PARTITION OF webhooks.routings DEFAULT;

-- What queue_repository inserts of a batch of events. Fields stand in the order in which it writes
-- them; another field makes another type with another name.
CREATE TYPE webhooks.new_event AS (
    event_id uuid,
    account_id uuid,
    type text,
    occurred_at timestamptz,
    body text,
    traceparent text -- empty: none
);
CREATE TYPE webhooks.new_delivery AS (
    event_id uuid,
    webhook_id uuid,
    account_id uuid,
    start text, -- leased, waiting, skipped
    wait bigint, -- microseconds until it is due
    rule_ids uuid[]
);
-- Events of one account about which its rules said the same.
CREATE TYPE webhooks.new_routing AS (
    account_id uuid,
    rule_ids uuid[],
    matched boolean[],
    event_ids uuid[]
);

-- A replay moves finished deliveries back to due_deliveries, in the order of their events, few at a
-- time.
CREATE TABLE webhooks.replays (
    replay_id uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    is_of_succeeded boolean NOT NULL, -- else of failed ones
    position uuid NOT NULL, -- the events up to this one are done
    counted bigint NOT NULL, -- found when it was requested
    moved bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL, -- deliveries that finished later are left alone
    next_step_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    finished_at timestamptz,
    end_reason text -- if it ended early
) WITH (fillfactor = 70);
CREATE INDEX replays_under_way ON webhooks.replays (next_step_at) WHERE finished_at IS NULL;
CREATE INDEX replays_of_webhook ON webhooks.replays (webhook_id);

-- How much is sent to a webhook manually: each request moves the moment until which the sender is
-- busy.
CREATE TABLE webhooks.manual_limits (
    webhook_id uuid NOT NULL,
    kind text NOT NULL,
    busy_until timestamptz NOT NULL,
    PRIMARY KEY (webhook_id, kind)
) WITH (fillfactor = 70);

-- Accounts that were deleted and whose deliveries are not yet: these are purged in small steps,
-- each of which moves a position. The events up to a position are purged.
CREATE TABLE webhooks.deleted_accounts (
    account_id uuid PRIMARY KEY,
    webhook_ids uuid[] NOT NULL,
    deleted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    event_position uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    routing_position uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'
) WITH (fillfactor = 70);
