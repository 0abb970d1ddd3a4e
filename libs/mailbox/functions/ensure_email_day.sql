-- Makes the partition of emails for a day where it is missing. LIKE and ATTACH need no exclusive
-- lock on the parent; rows that came before their partition waited in the default one and are
-- moved. The lock on the default partition is had at once or not at all: everybody would queue
-- behind one that waits. It is taken before anything is made, so that failing costs nothing.
CREATE OR REPLACE FUNCTION mailbox.ensure_email_day(day date) RETURNS void
LANGUAGE plpgsql AS $$
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
    EXECUTE format(
        'CREATE TABLE mailbox.%I (LIKE mailbox.emails INCLUDING DEFAULTS INCLUDING STORAGE)', part);
    IF EXISTS (SELECT 1 FROM mailbox.emails_default WHERE email_id >= lowest AND email_id < past)
    THEN
        -- Whole rows: both tables have the columns of mailbox.emails, whichever those are.
        EXECUTE format(
            'WITH moved AS (DELETE FROM mailbox.emails_default
                            WHERE email_id >= $1 AND email_id < $2 RETURNING *)
             INSERT INTO mailbox.%I SELECT * FROM moved', part) USING lowest, past;
    END IF;
    EXECUTE format(
        'ALTER TABLE mailbox.emails ATTACH PARTITION mailbox.%I FOR VALUES FROM (%L) TO (%L)',
        part, lowest, past);
END
$$;
