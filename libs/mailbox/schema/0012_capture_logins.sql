-- contract of v0.2.0
-- Logins of capture inboxes: what is sent with one lands in its inbox. Releases before 0.2.0 do not
-- know the new fields of new_message; services are stopped while this runs.

-- One row, incremented in the transaction of every change to a login: its order is the order of
-- commits. Whoever increments it does so last, since it is one row for all accounts.
CREATE TABLE mailbox.capture_changes (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version bigint NOT NULL
);
INSERT INTO mailbox.capture_changes (version) VALUES (0);

-- Few rows, and only for inboxes that have or had a login. A row goes with its inbox's.
CREATE TABLE mailbox.capture_logins (
    account_id uuid NOT NULL,
    login_id uuid NOT NULL, -- chosen by whoever creates it: a repeated creation finds it by that
    inbox_id uuid NOT NULL,
    login text NOT NULL, -- the user: `cap_` and 12 characters, never given again
    secret_sha256 bytea NOT NULL, -- of 190 random bits
    previous_sha256 bytea, -- good until previous_until
    previous_until timestamptz,
    rotation_id uuid, -- of the last rotation: a repeated one finds itself
    version bigint NOT NULL, -- of capture_changes
    created_at timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
    last_used_at timestamptz,
    revoked_at timestamptz,
    PRIMARY KEY (account_id, login_id)
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX capture_logins_login ON mailbox.capture_logins (login);
CREATE UNIQUE INDEX capture_logins_secret ON mailbox.capture_logins (secret_sha256);
CREATE UNIQUE INDEX capture_logins_live
    ON mailbox.capture_logins (account_id, inbox_id) WHERE revoked_at IS NULL;
CREATE INDEX capture_logins_version ON mailbox.capture_logins (version);

-- The user that sent an email, if it came with a login.
ALTER TABLE mailbox.emails ADD COLUMN login text;
ALTER TYPE mailbox.new_message ADD ATTRIBUTE login text;

-- bad_login: a wrong password for the inbox's user. fault: a refusal that the inbox asked for.
ALTER TABLE mailbox.rejections
    DROP CONSTRAINT rejections_reason_check,
    ADD CONSTRAINT rejections_reason_check CHECK (reason IN (
        'too_large', 'inbox_full', 'over_rate', 'inbox_ended', 'bad_login', 'fault'));
