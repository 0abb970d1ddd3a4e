-- Webhook endpoints, routing rules, and deliveries on their way from an event to a receiver.

CREATE TABLE webhooks.account_state (
    account_id uuid PRIMARY KEY,
    version bigint NOT NULL,
    state bytea NOT NULL
);

-- One row for each account that ever had an endpoint, incremented in the transaction of every change to its endpoints, rules or plan:
-- locked first, it also puts those transactions in order.
CREATE TABLE webhooks.config_version (
    account_id uuid PRIMARY KEY,
    version bigint NOT NULL
) WITH (fillfactor = 70);

CREATE TABLE webhooks.endpoint (
    account_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    url text NOT NULL,
    events text[] NOT NULL,
    description text NOT NULL,
    is_enabled boolean NOT NULL DEFAULT true,
    disabled_reason text, -- null where the account switched it off itself
    sealed_secret text NOT NULL,
    previous_sealed_secret text, -- after a rotation; also signs until the moment below
    previous_secret_until timestamptz,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (account_id, webhook_id)
) WITH (fillfactor = 80);

CREATE TABLE webhooks.rule (
    account_id uuid NOT NULL,
    rule_id uuid NOT NULL,
    name text NOT NULL,
    webhook_id uuid NOT NULL,
    conditions jsonb NOT NULL, -- [{"field", "operator", "value"}], 0 to 5
    is_enabled boolean NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (account_id, rule_id),
    FOREIGN KEY (account_id, webhook_id) REFERENCES webhooks.endpoint
);
CREATE INDEX rule_webhook ON webhooks.rule (account_id, webhook_id);

-- An event that some endpoint gets, with the exact bytes that are signed and sent. event_id is a UUIDv7: partitions are days of it, as for
-- delivery and attempt, so that everything about an event goes at once.
CREATE TABLE webhooks.event (
    event_id uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    type text NOT NULL,
    occurred_at timestamptz NOT NULL,
    body bytea NOT NULL,
    traceparent text
) PARTITION BY RANGE (event_id);
CREATE TABLE webhooks.event_default PARTITION OF webhooks.event DEFAULT;

-- Deliveries that are not finished, and nothing else. Every write after a claim is fenced by lease_id.
CREATE TABLE webhooks.due (
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
    PRIMARY KEY (event_id, webhook_id),
    CHECK ((lease_id IS NULL) = (lease_until IS NULL))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX due_waiting ON webhooks.due (run_at, event_id, webhook_id, is_retry) WHERE lease_id IS NULL;
CREATE INDEX due_waiting_for_webhook ON webhooks.due (webhook_id, is_retry, run_at) WHERE lease_id IS NULL;
CREATE INDEX due_lease_end ON webhooks.due (lease_until) WHERE lease_id IS NOT NULL;

-- Finished deliveries: one row an (event, endpoint), which also keeps a repeated event from being delivered again.
CREATE TABLE webhooks.delivery (
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
    PRIMARY KEY (event_id, webhook_id)
) PARTITION BY RANGE (event_id);
CREATE TABLE webhooks.delivery_default PARTITION OF webhooks.delivery DEFAULT;
CREATE INDEX delivery_of_webhook ON webhooks.delivery (webhook_id, event_id);
CREATE INDEX delivery_failed ON webhooks.delivery (webhook_id, event_id) WHERE state <> 'succeeded';

-- Every request that was sent; rows are only added.
CREATE TABLE webhooks.attempt (
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
CREATE TABLE webhooks.attempt_default PARTITION OF webhooks.attempt DEFAULT;

-- The lowest UUIDv7 made at or after a moment.
CREATE FUNCTION webhooks.lowest_uuid(moment timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT (lpad(to_hex((extract(epoch FROM moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Makes the partitions of the days from `first` to `last` where they are missing. LIKE and ATTACH need no exclusive lock on the parent.
CREATE FUNCTION webhooks.ensure_days(first date, last date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    parent text;
    part text;
    day date;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('webhooks.partitions'));
    FOREACH parent IN ARRAY ARRAY['event', 'delivery', 'attempt'] LOOP
        FOR day IN SELECT generate_series(first, last, interval '1 day') LOOP
            part := parent || '_' || to_char(day, 'YYYYMMDD');
            CONTINUE WHEN to_regclass('webhooks.' || part) IS NOT NULL;
            EXECUTE format('CREATE TABLE webhooks.%I (LIKE webhooks.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', part, parent);
            BEGIN
                EXECUTE format('ALTER TABLE webhooks.%I ATTACH PARTITION webhooks.%I FOR VALUES FROM (%L) TO (%L)', parent, part,
                               webhooks.lowest_uuid(day::timestamp AT TIME ZONE 'UTC'),
                               webhooks.lowest_uuid((day + 1)::timestamp AT TIME ZONE 'UTC'));
            EXCEPTION WHEN check_violation THEN
                -- Rows of that day are in the default partition already: they stay there until their retention ends.
                EXECUTE format('DROP TABLE webhooks.%I', part);
            END;
        END LOOP;
    END LOOP;
END
$$;

-- Drops one partition of a day before `oldest` and answers true; with none left, deletes the old rows of the default partitions.
CREATE FUNCTION webhooks.drop_partition_before(oldest date) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    part text;
    edge uuid := webhooks.lowest_uuid(oldest::timestamp AT TIME ZONE 'UTC');
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('webhooks.partitions'));
    SELECT c.relname INTO part FROM pg_class c
    WHERE c.relnamespace = 'webhooks'::regnamespace AND c.relkind = 'r' AND c.relname ~ '^(event|delivery|attempt)_[0-9]{8}$'
      AND right(c.relname, 8) < to_char(oldest, 'YYYYMMDD')
    ORDER BY right(c.relname, 8) LIMIT 1;
    IF part IS NOT NULL THEN
        EXECUTE format('DROP TABLE webhooks.%I', part);
        RETURN true;
    END IF;
    DELETE FROM webhooks.event_default WHERE event_id < edge;
    DELETE FROM webhooks.delivery_default WHERE event_id < edge;
    DELETE FROM webhooks.attempt_default WHERE event_id < edge;
    RETURN false;
END
$$;

SELECT webhooks.ensure_days((now() AT TIME ZONE 'UTC')::date - 1, (now() AT TIME ZONE 'UTC')::date + 3);
