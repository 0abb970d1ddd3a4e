-- The feed of an account's events, which GET /v1/events reads: each event once, by position.

-- One row for each account that ever read its events; like an endpoint it has a row of
-- config_versions. Who records events of the account holds the
-- row's lock: positions are dense, and become visible in their order.
CREATE TABLE webhooks.feeds (
    account_id uuid PRIMARY KEY,
    is_recording boolean NOT NULL DEFAULT true, -- ends some days after the last reader
    read_at timestamptz NOT NULL DEFAULT clock_timestamp(), -- moves once an hour at most
    -- Another server, or another timeline of it, raises the epoch: the database may have been
    -- restored to an earlier moment, or a standby without the last commits took over, and positions
    -- above epoch_position were given once before, to other events.
    server text NOT NULL DEFAULT '', -- that recorded last: system identifier and timeline
    epoch integer NOT NULL DEFAULT 1,
    epoch_position bigint NOT NULL DEFAULT 0,
    -- A floor: no position up to it is given again. The highest one is that of the events recorded
    -- since position_at, if there are any. A counter that every batch moves would leave a dead row
    -- each time.
    last_position bigint NOT NULL DEFAULT 0,
    position_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 70);

-- The partition's column comes last in the key, because PostgreSQL wants it there; positions of an
-- account are unique without it, by the lock.
CREATE TABLE webhooks.feed_events (
    account_id uuid NOT NULL,
    position bigint NOT NULL,
    event_id uuid NOT NULL,
    inbox_id uuid NOT NULL,
    type smallint NOT NULL, -- 1: email.received, 2: inbox.created, 3: inbox.expired
    recorded_at timestamptz NOT NULL, -- never before the floor's position_at
    body bytea NOT NULL, -- the payload, as webhooks get it
    PRIMARY KEY (account_id, position, recorded_at)
) PARTITION BY RANGE (recorded_at);
CREATE TABLE webhooks.feed_events_default PARTITION OF webhooks.feed_events DEFAULT;
CREATE INDEX feed_events_event ON webhooks.feed_events (event_id);
