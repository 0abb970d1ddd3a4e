-- Makes the partition of bodies for an hour where it is missing, as mailbox.ensure_email_day does
-- for a day of emails.
CREATE OR REPLACE FUNCTION mailbox.ensure_body_hour(hour timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
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
    EXECUTE format(
        'CREATE TABLE mailbox.%I (LIKE mailbox.bodies INCLUDING DEFAULTS INCLUDING STORAGE)', part);
    IF EXISTS (SELECT 1 FROM mailbox.bodies_default WHERE body_hour >= start AND body_hour < past)
    THEN
        EXECUTE format(
            'WITH moved AS (DELETE FROM mailbox.bodies_default
                            WHERE body_hour >= $1 AND body_hour < $2
                            RETURNING body_hour, body_id, account_id, raw)
             INSERT INTO mailbox.%I (body_hour, body_id, account_id, raw)
             SELECT body_hour, body_id, account_id, raw FROM moved', part) USING start, past;
    END IF;
    EXECUTE format(
        'ALTER TABLE mailbox.bodies ATTACH PARTITION mailbox.%I FOR VALUES FROM (%L) TO (%L)',
        part, start, past);
END
$$;
