-- Sending again, why each email went where, and endpoints that only fail.

ALTER TABLE webhooks.due ADD COLUMN began_at timestamptz; -- when the schedule began anew, where it is sent once more

-- Which webhook first: the log of one webhook reads its unfinished deliveries in the order of their events.
ALTER TABLE webhooks.due DROP CONSTRAINT due_pkey;
ALTER TABLE webhooks.due ADD PRIMARY KEY (webhook_id, event_id);

-- Deliveries put back by a replay and not yet tried: few at a time for each webhook, so it must be cheap to count them.
CREATE INDEX due_replayed ON webhooks.due (webhook_id) WHERE is_retry AND attempts = 0;

-- A replay moves finished deliveries back to `due`, in the order of their events, few at a time.
CREATE TABLE webhooks.replay (
    replay_id uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    webhook_id uuid NOT NULL,
    is_of_succeeded boolean NOT NULL, -- else of failed ones
    position uuid NOT NULL, -- the events up to this one are done
    counted bigint NOT NULL, -- found when it was asked for
    moved bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL, -- deliveries that finished later are left alone
    next_step_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    finished_at timestamptz,
    end_reason text -- where it ended early
) WITH (fillfactor = 70);
CREATE INDEX replay_under_way ON webhooks.replay (next_step_at) WHERE finished_at IS NULL;
CREATE INDEX replay_of_webhook ON webhooks.replay (webhook_id);

-- How much is sent to a webhook by hand: each request moves the moment until which the sender is busy.
CREATE TABLE webhooks.hand_limit (
    webhook_id uuid NOT NULL,
    kind text NOT NULL,
    busy_until timestamptz NOT NULL,
    PRIMARY KEY (webhook_id, kind)
) WITH (fillfactor = 70);

-- What the account's rules said about an email, in their order at that moment.
CREATE TABLE webhooks.routing (
    event_id uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    rule_ids uuid[] NOT NULL,
    matched boolean[] NOT NULL
) PARTITION BY RANGE (event_id);
CREATE TABLE webhooks.routing_default PARTITION OF webhooks.routing DEFAULT;

-- Endpoints whose attempts fail, since their last success as far as it is known here; written every few seconds, not with each attempt.
CREATE TABLE webhooks.failing_endpoint (
    webhook_id uuid PRIMARY KEY,
    account_id uuid NOT NULL,
    failures bigint NOT NULL,
    first_failure_at timestamptz NOT NULL,
    last_failure_at timestamptz NOT NULL
) WITH (fillfactor = 70);

CREATE OR REPLACE FUNCTION webhooks.ensure_days(first date, last date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    parent text;
    part text;
    day date;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('webhooks.partitions'));
    FOREACH parent IN ARRAY ARRAY['event', 'delivery', 'attempt', 'routing'] LOOP
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

CREATE OR REPLACE FUNCTION webhooks.drop_partition_before(oldest date) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    part text;
    edge uuid := webhooks.lowest_uuid(oldest::timestamp AT TIME ZONE 'UTC');
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('webhooks.partitions'));
    SELECT c.relname INTO part FROM pg_class c
    WHERE c.relnamespace = 'webhooks'::regnamespace AND c.relkind = 'r' AND c.relname ~ '^(event|delivery|attempt|routing)_[0-9]{8}$'
      AND right(c.relname, 8) < to_char(oldest, 'YYYYMMDD')
    ORDER BY right(c.relname, 8) LIMIT 1;
    IF part IS NOT NULL THEN
        EXECUTE format('DROP TABLE webhooks.%I', part);
        RETURN true;
    END IF;
    DELETE FROM webhooks.event_default WHERE event_id < edge;
    DELETE FROM webhooks.delivery_default WHERE event_id < edge;
    DELETE FROM webhooks.attempt_default WHERE event_id < edge;
    DELETE FROM webhooks.routing_default WHERE event_id < edge;
    RETURN false;
END
$$;

SELECT webhooks.ensure_days((now() AT TIME ZONE 'UTC')::date - 1, (now() AT TIME ZONE 'UTC')::date + 3);
