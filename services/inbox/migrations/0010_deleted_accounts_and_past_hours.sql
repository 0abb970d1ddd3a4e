-- Deleted accounts end with their inboxes; bodies leave with the partition of their hour; making a partition waits for nobody.

-- Accounts that were deleted and may have live inboxes still: who ends inboxes looks here. A row goes when none of them is left.
CREATE TABLE mailbox.deleted_accounts (
    account_id uuid PRIMARY KEY,
    noted_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- By a trigger, so that processes of the version before note it too. The bytes are field `deleted` (number 6) of AccountState, but may be part of another:
-- who ends inboxes reads the state.
CREATE FUNCTION mailbox.note_deleted_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- An update, not nothing: it waits for whoever is taking the row away.
    INSERT INTO mailbox.deleted_accounts (account_id) VALUES (NEW.account_id)
    ON CONFLICT (account_id) DO UPDATE SET noted_at = excluded.noted_at;
    RETURN NULL;
END
$$;
CREATE TRIGGER note_deleted AFTER INSERT OR UPDATE ON mailbox.account_state
    FOR EACH ROW WHEN (position('\x3001'::bytea IN NEW.state) > 0) EXECUTE FUNCTION mailbox.note_deleted_account();
INSERT INTO mailbox.deleted_accounts (account_id) SELECT account_id FROM mailbox.account_state WHERE position('\x3001'::bytea IN state) > 0;

-- Inboxes with mail that outlive the hour in which they were to end: bodies of that hour and of later ones may be needed after it, and are moved before their
-- partition is dropped. An inbox that is not here has all its bodies in the hour of its end or in later ones.
CREATE TABLE mailbox.extended_inboxes (
    account_id uuid NOT NULL,
    inbox_id uuid NOT NULL,
    body_hour timestamptz NOT NULL, -- no body of it is in an earlier one
    PRIMARY KEY (account_id, inbox_id)
) WITH (fillfactor = 70);
CREATE INDEX extended_inboxes_by_hour ON mailbox.extended_inboxes (body_hour);

-- By a trigger: whoever extends an inbox without a note here loses its mail.
CREATE FUNCTION mailbox.note_extended_inbox() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO mailbox.extended_inboxes AS known (account_id, inbox_id, body_hour)
    VALUES (OLD.account_id, OLD.inbox_id, date_trunc('hour', OLD.expires_at, 'UTC'))
    ON CONFLICT (account_id, inbox_id) DO UPDATE SET body_hour = least(known.body_hour, excluded.body_hour);
    RETURN NULL;
END
$$;
CREATE TRIGGER note_extended AFTER UPDATE OF expires_at ON mailbox.inboxes
    FOR EACH ROW WHEN (OLD.last_sequence > 0 AND date_trunc('hour', NEW.expires_at, 'UTC') > date_trunc('hour', OLD.expires_at, 'UTC'))
    EXECUTE FUNCTION mailbox.note_extended_inbox();
-- Nobody noted the extensions of before: every live inbox with mail is looked through once.
INSERT INTO mailbox.extended_inboxes (account_id, inbox_id, body_hour)
SELECT account_id, inbox_id, '2000-01-01 00:00:00+00' FROM mailbox.inboxes WHERE is_live AND last_sequence > 0 AND expires_at < '9000-01-01 00:00:00+00';

-- As before, but the lock on the default partition is had at once or not at all: who waits for it lets everybody wait behind. Asked for before anything is made,
-- so that failing costs nothing.
CREATE OR REPLACE FUNCTION mailbox.ensure_email_day(day date) RETURNS void LANGUAGE plpgsql AS $$
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
    LOCK TABLE ONLY mailbox.emails IN SHARE UPDATE EXCLUSIVE MODE NOWAIT;
    LOCK TABLE ONLY mailbox.emails_default IN ACCESS EXCLUSIVE MODE NOWAIT;
    EXECUTE format('CREATE TABLE mailbox.%I (LIKE mailbox.emails INCLUDING DEFAULTS INCLUDING STORAGE)', part);
    IF EXISTS (SELECT 1 FROM mailbox.emails_default WHERE email_id >= lowest AND email_id < past) THEN
        EXECUTE format('WITH moved AS (DELETE FROM mailbox.emails_default WHERE email_id >= $1 AND email_id < $2 RETURNING *)
                        INSERT INTO mailbox.%I SELECT * FROM moved', part) USING lowest, past;
    END IF;
    EXECUTE format('ALTER TABLE mailbox.emails ATTACH PARTITION mailbox.%I FOR VALUES FROM (%L) TO (%L)', part, lowest, past);
END
$$;

CREATE OR REPLACE FUNCTION mailbox.ensure_body_hour(hour timestamptz) RETURNS void LANGUAGE plpgsql AS $$
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
    LOCK TABLE ONLY mailbox.bodies IN SHARE UPDATE EXCLUSIVE MODE NOWAIT;
    LOCK TABLE ONLY mailbox.bodies_default IN ACCESS EXCLUSIVE MODE NOWAIT;
    EXECUTE format('CREATE TABLE mailbox.%I (LIKE mailbox.bodies INCLUDING DEFAULTS INCLUDING STORAGE)', part);
    IF EXISTS (SELECT 1 FROM mailbox.bodies_default WHERE body_hour >= start AND body_hour < past) THEN
        EXECUTE format('WITH moved AS (DELETE FROM mailbox.bodies_default WHERE body_hour >= $1 AND body_hour < $2 RETURNING *)
                        INSERT INTO mailbox.%I SELECT * FROM moved', part) USING start, past;
    END IF;
    EXECUTE format('ALTER TABLE mailbox.bodies ATTACH PARTITION mailbox.%I FOR VALUES FROM (%L) TO (%L)', part, start, past);
END
$$;
