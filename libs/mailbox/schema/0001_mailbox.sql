-- Inboxes, the owners of addresses, emails and their bodies. Locks are taken in the order that
-- libs/mailbox/README.md lists.
-- Large tables begin their keys with account_id; emails and bodies are partitioned by time.

CREATE TABLE mailbox.account_states (
    account_id uuid PRIMARY KEY,
    version bigint NOT NULL,
    state bytea NOT NULL
);

-- Deleted accounts that may still have live inboxes: whoever ends inboxes looks here. A row goes
-- when none of them is left.
CREATE TABLE mailbox.deleted_accounts (
    account_id uuid PRIMARY KEY,
    noted_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- How many live inboxes each account has, changed in the transactions that create and end them: a
-- new inbox costs the same beside ten and ten thousand.
CREATE TABLE mailbox.live_inbox_counts (
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

-- Who owns an address, joined with nothing. A live row ends with its inbox; then it is quarantined
-- so that nobody else gets the address.
CREATE TABLE mailbox.addresses (
    address text PRIMARY KEY, -- local@domain, lower case, without tag
    account_id uuid NOT NULL,
    inbox_id uuid NOT NULL,
    state text NOT NULL CHECK (state IN ('live', 'quarantined')),
    -- live: the inbox's expiry; quarantined: when the address may be given out again
    until timestamptz NOT NULL
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
    -- How often emails of the inbox were deleted or marked. With last_sequence and email_count it
    -- names a state of the inbox's emails: a list read in the same state is still right. Whoever
    -- changes emails of a live inbox changes one of the three in the same transaction.
    mail_changes bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (account_id, inbox_id)
) WITH (fillfactor = 70);
CREATE INDEX inboxes_newest ON mailbox.inboxes (account_id, created_at DESC, inbox_id DESC);
CREATE INDEX inboxes_live_newest
    ON mailbox.inboxes (account_id, created_at DESC, inbox_id DESC) WHERE is_live;
CREATE INDEX inboxes_due ON mailbox.inboxes (expires_at) WHERE is_live;
CREATE INDEX inboxes_to_purge ON mailbox.inboxes (expired_at) WHERE has_mail_to_purge;
CREATE INDEX inboxes_ended ON mailbox.inboxes (expired_at) WHERE NOT is_live;

-- Inboxes with mail that outlive the hour in which they were to end: bodies of that hour and of
-- later ones may be needed after it, and are moved before their partition is dropped. An inbox that
-- is not here has all its bodies in the hour of its end or in later ones.
CREATE TABLE mailbox.extended_inboxes (
    account_id uuid NOT NULL,
    inbox_id uuid NOT NULL,
    body_hour timestamptz NOT NULL, -- no body of it is in an earlier one
    PRIMARY KEY (account_id, inbox_id)
) WITH (fillfactor = 70);
CREATE INDEX extended_inboxes_by_hour ON mailbox.extended_inboxes (body_hour);

-- One row for each inbox that a mail reached. email_id is a UUIDv7: partitions are days of it, made
-- by mailbox.ensure_email_day; what comes before its day is made waits in the default one.
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
-- Emails of a time, of all accounts. They come nearly in order, so a few blocks hold them.
CREATE INDEX emails_by_time ON mailbox.emails USING brin (email_id) WITH (autosummarize = on);
CREATE TABLE mailbox.emails_default PARTITION OF mailbox.emails DEFAULT;

-- An email as lists show it and filters look at it, with what finds it. libs/mailbox/
-- email_summary.hpp names the columns that lists show. A new one comes last.
CREATE VIEW mailbox.email_summaries AS
SELECT account_id, email_id, inbox_id, sequence, from_address, from_name, rcpt_to, subject,
    preview, received_at, size_bytes, attachment_count, is_read, codes, to_header
FROM mailbox.emails;

-- What mailbox.store_mail takes of a message and of each of its inboxes. Fields stand in the order
-- in which ingest_repository writes them; another field makes another type with another name.
CREATE TYPE mailbox.new_message AS (
    body_id uuid,
    size_bytes bigint,
    received_at timestamptz,
    from_address text,
    from_name text,
    subject text,
    preview text,
    message_id text,
    to_header text[],
    mail_from text,
    remote_address text,
    helo text,
    tls text,
    attachment_count integer,
    codes text,
    links text,
    defects text[],
    content_sha256 bytea
);
CREATE TYPE mailbox.new_delivery AS (
    message integer, -- its ordinal in the batch, from 1
    account_id uuid,
    inbox_id uuid,
    email_id uuid,
    rcpt_to text[],
    headers text, -- of the event
    event bytea -- lacks its sequence
);

-- How many emails each account got a day, of those that were deleted: the others are counted where
-- they stand, so that no mail costs a write for it. A row for each account and day, filled by
-- mailbox.count_deleted_emails.
CREATE TABLE mailbox.deleted_emails (
    account_id uuid NOT NULL,
    day date NOT NULL, -- on which they came, UTC
    emails bigint NOT NULL,
    PRIMARY KEY (account_id, day)
) WITH (fillfactor = 70);

-- The message as received, zstd-compressed. One row for each SMTP transaction, in the partition of
-- the hour in which the last of its inboxes was to expire (mailbox.ensure_body_hour).
CREATE TABLE mailbox.bodies (
    body_hour timestamptz NOT NULL,
    body_id uuid NOT NULL,
    raw bytea NOT NULL,
    PRIMARY KEY (body_hour, body_id)
) PARTITION BY RANGE (body_hour);
ALTER TABLE mailbox.bodies ALTER COLUMN raw SET STORAGE EXTERNAL;
CREATE TABLE mailbox.bodies_default PARTITION OF mailbox.bodies DEFAULT;
-- Mail of inboxes without end (postmaster, abuse): so that the default partition is empty in
-- ordinary times and attaching beside it costs nothing.
CREATE TABLE mailbox.bodies_endless PARTITION OF mailbox.bodies
    FOR VALUES FROM ('9000-01-01 00:00:00+00') TO (MAXVALUE);

-- An email with a Message-ID whose sender may not have seen the 250: its session ended before any
-- command after it, or it came in the last minute before a mail-ingest process crashed. A second
-- delivery of the same message is recognized by it.
CREATE TABLE mailbox.unacknowledged_emails (
    account_id uuid NOT NULL,
    inbox_id uuid NOT NULL,
    email_id uuid NOT NULL,
    sequence bigint NOT NULL,
    mail_from text NOT NULL,
    content_sha256 bytea NOT NULL,
    until timestamptz NOT NULL, -- later the same message is another one
    PRIMARY KEY (account_id, inbox_id, content_sha256, email_id)
);
CREATE INDEX unacknowledged_emails_end ON mailbox.unacknowledged_emails (until);

-- The mail-ingest processes that run. A process removes its row at an orderly end, so a row that is
-- old, or is there when its process starts, means a crash.
CREATE TABLE mailbox.ingest_runs (
    replica text PRIMARY KEY,
    alive_at timestamptz NOT NULL
) WITH (fillfactor = 50);

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
