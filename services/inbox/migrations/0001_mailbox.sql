-- Inboxes, who owns an address, emails and bodies; the locks are taken in this order: account_state, inboxes (by id), account_usage, addresses.
-- Large tables begin their keys with account_id; emails and bodies are partitioned by time.

CREATE TABLE mailbox.account_state (
    account_id uuid PRIMARY KEY,
    version bigint NOT NULL,
    state bytea NOT NULL
);

-- How many inboxes of an account are live, changed in the transactions that make and end them: a new inbox costs the same beside ten and ten thousand.
-- Locked before mailbox.addresses, in account order, by all who change it.
CREATE TABLE mailbox.account_usage (
    account_id uuid PRIMARY KEY,
    live_inboxes bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE mailbox.domains (
    domain text PRIMARY KEY, -- lower case, A-labels
    is_default boolean NOT NULL DEFAULT false,
    operator_account_id uuid,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX domains_one_default ON mailbox.domains (is_default) WHERE is_default;

-- Who owns an address, joined with nothing. A live row ends with its inbox; then it is quarantined so that nobody else gets the address.
CREATE TABLE mailbox.addresses (
    address text PRIMARY KEY, -- local@domain, lower case, without tag
    account_id uuid NOT NULL,
    inbox_id uuid NOT NULL,
    state text NOT NULL CHECK (state IN ('live', 'quarantined')),
    until timestamptz NOT NULL -- live: the inbox's expiry; quarantined: when the address may be given out again
);
CREATE INDEX addresses_quarantine_end ON mailbox.addresses (until) WHERE state = 'quarantined';

CREATE TABLE mailbox.inboxes (
    account_id uuid NOT NULL,
    inbox_id uuid NOT NULL,
    email_address text NOT NULL,
    name text,
    tags text[] NOT NULL DEFAULT '{}',
    metadata jsonb NOT NULL DEFAULT '{}',
    is_live boolean NOT NULL DEFAULT true,
    email_count bigint NOT NULL DEFAULT 0,
    email_bytes bigint NOT NULL DEFAULT 0,
    last_sequence bigint NOT NULL DEFAULT 0,
    last_email_at timestamptz,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    expired_at timestamptz,
    expiry_reason text CHECK (expiry_reason IN ('ttl', 'deleted')),
    has_mail_to_purge boolean NOT NULL DEFAULT false,
    PRIMARY KEY (account_id, inbox_id)
) WITH (fillfactor = 70);
CREATE INDEX inboxes_newest ON mailbox.inboxes (account_id, created_at DESC, inbox_id DESC);
CREATE INDEX inboxes_live_newest ON mailbox.inboxes (account_id, created_at DESC, inbox_id DESC) WHERE is_live;
CREATE INDEX inboxes_due ON mailbox.inboxes (expires_at) WHERE is_live;
CREATE INDEX inboxes_to_purge ON mailbox.inboxes (expired_at) WHERE has_mail_to_purge;
CREATE INDEX inboxes_ended ON mailbox.inboxes (expired_at) WHERE NOT is_live;

-- One row an inbox a mail reached. email_id is a UUIDv7: partitions are days of it.
CREATE TABLE mailbox.emails (
    account_id uuid NOT NULL,
    email_id uuid NOT NULL,
    inbox_id uuid NOT NULL,
    sequence bigint NOT NULL,
    received_at timestamptz NOT NULL,
    from_address text NOT NULL,
    from_name text NOT NULL,
    subject text NOT NULL,
    preview text NOT NULL,
    message_id text,
    rcpt_to text[] NOT NULL,
    to_header text[] NOT NULL,
    mail_from text NOT NULL,
    remote_address text NOT NULL,
    helo text NOT NULL,
    tls text,
    size_bytes bigint NOT NULL,
    attachment_count integer NOT NULL,
    codes jsonb NOT NULL,
    links jsonb NOT NULL,
    defects text[] NOT NULL,
    is_read boolean NOT NULL DEFAULT false,
    content_sha256 bytea NOT NULL,
    body_hour timestamptz NOT NULL,
    body_id uuid NOT NULL,
    is_body_shared boolean NOT NULL,
    location text NOT NULL DEFAULT 'sql',
    PRIMARY KEY (account_id, email_id)
) PARTITION BY RANGE (email_id);
CREATE INDEX emails_newest ON mailbox.emails (account_id, inbox_id, sequence DESC);
CREATE INDEX emails_shared_body ON mailbox.emails (body_id) WHERE is_body_shared;
CREATE TABLE mailbox.emails_default PARTITION OF mailbox.emails DEFAULT;

-- The message as received, zstd-compressed. One row an SMTP transaction, in the partition of the hour in which the last of its inboxes was to expire.
CREATE TABLE mailbox.bodies (
    body_hour timestamptz NOT NULL,
    body_id uuid NOT NULL,
    raw bytea NOT NULL,
    PRIMARY KEY (body_hour, body_id)
) PARTITION BY RANGE (body_hour);
ALTER TABLE mailbox.bodies ALTER COLUMN raw SET STORAGE EXTERNAL;
CREATE TABLE mailbox.bodies_default PARTITION OF mailbox.bodies DEFAULT;
-- Mail of inboxes without end (postmaster, abuse): so that the default partition is empty in ordinary times and attaching beside it costs nothing.
CREATE TABLE mailbox.bodies_endless PARTITION OF mailbox.bodies FOR VALUES FROM ('9000-01-01 00:00:00+00') TO (MAXVALUE);

-- Times travel as microseconds since 1970.
CREATE FUNCTION mailbox.to_micros(moment timestamptz) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT (extract(epoch FROM moment) * 1000000)::bigint
$$;
CREATE FUNCTION mailbox.from_micros(micros bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT to_timestamp(micros / 1000000.0)
$$;

-- The lowest UUIDv7 made at or after a moment.
CREATE FUNCTION mailbox.lowest_uuid(moment timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE AS $$
    SELECT (lpad(to_hex(floor(extract(epoch FROM moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- Make the partition of emails for a day, and of bodies for an hour, where it is missing. LIKE and ATTACH need no exclusive lock on the parent;
-- rows that came before their partition did wait in the default one and are moved.
CREATE FUNCTION mailbox.ensure_email_day(day date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    part text := 'emails_' || to_char(day, 'YYYYMMDD');
    lowest uuid := mailbox.lowest_uuid(day::timestamp AT TIME ZONE 'UTC');
    past uuid := mailbox.lowest_uuid((day + 1)::timestamp AT TIME ZONE 'UTC');
BEGIN
    IF to_regclass('mailbox.' || part) IS NOT NULL THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('mailbox.partitions'));
    IF to_regclass('mailbox.' || part) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE mailbox.%I (LIKE mailbox.emails INCLUDING DEFAULTS INCLUDING STORAGE)', part);
    IF EXISTS (SELECT 1 FROM mailbox.emails_default WHERE email_id >= lowest AND email_id < past) THEN
        LOCK TABLE mailbox.emails_default IN ACCESS EXCLUSIVE MODE;
        EXECUTE format('WITH moved AS (DELETE FROM mailbox.emails_default WHERE email_id >= $1 AND email_id < $2 RETURNING *)
                        INSERT INTO mailbox.%I SELECT * FROM moved', part) USING lowest, past;
    END IF;
    EXECUTE format('ALTER TABLE mailbox.emails ATTACH PARTITION mailbox.%I FOR VALUES FROM (%L) TO (%L)', part, lowest, past);
END
$$;

CREATE FUNCTION mailbox.ensure_body_hour(hour timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    start timestamptz := date_trunc('hour', hour, 'UTC');
    past timestamptz := start + interval '1 hour';
    part text := 'bodies_' || to_char(start AT TIME ZONE 'UTC', 'YYYYMMDD_HH24');
BEGIN
    IF start >= '9000-01-01 00:00:00+00' OR to_regclass('mailbox.' || part) IS NOT NULL THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('mailbox.partitions'));
    IF to_regclass('mailbox.' || part) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE mailbox.%I (LIKE mailbox.bodies INCLUDING DEFAULTS INCLUDING STORAGE)', part);
    IF EXISTS (SELECT 1 FROM mailbox.bodies_default WHERE body_hour >= start AND body_hour < past) THEN
        LOCK TABLE mailbox.bodies_default IN ACCESS EXCLUSIVE MODE;
        EXECUTE format('WITH moved AS (DELETE FROM mailbox.bodies_default WHERE body_hour >= $1 AND body_hour < $2 RETURNING *)
                        INSERT INTO mailbox.%I SELECT * FROM moved', part) USING start, past;
    END IF;
    EXECUTE format('ALTER TABLE mailbox.bodies ATTACH PARTITION mailbox.%I FOR VALUES FROM (%L) TO (%L)', part, start, past);
END
$$;

SELECT mailbox.ensure_email_day((now() AT TIME ZONE 'UTC')::date + n) FROM generate_series(0, 2) AS n;

CREATE TABLE mailbox.outbox (
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
CREATE INDEX outbox_lease_end ON mailbox.outbox (lease_until);
