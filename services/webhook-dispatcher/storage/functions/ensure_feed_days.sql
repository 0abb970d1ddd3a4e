-- Makes the partitions of feed_events for the days from `first` to `last` if they are missing. LIKE
-- and ATTACH need no exclusive lock on the parent.
CREATE OR REPLACE FUNCTION webhooks.ensure_feed_days(first date, last date) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    part text;
    day date;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('webhooks.partitions'));
    FOR day IN SELECT generate_series(first, last, interval '1 day') LOOP
        part := 'feed_events_' || to_char(day, 'YYYYMMDD');
        CONTINUE WHEN to_regclass('webhooks.' || part) IS NOT NULL;
        EXECUTE format('CREATE TABLE webhooks.%I (LIKE webhooks.feed_events INCLUDING DEFAULTS '
                       'INCLUDING CONSTRAINTS)', part);
        BEGIN
            EXECUTE format('ALTER TABLE webhooks.feed_events ATTACH PARTITION webhooks.%I '
                           'FOR VALUES FROM (%L) TO (%L)', part,
                           day::timestamp AT TIME ZONE 'UTC',
                           (day + 1)::timestamp AT TIME ZONE 'UTC');
        EXCEPTION WHEN check_violation THEN
            -- Rows of that day are in the default partition already: they stay there until their
            -- retention ends.
            EXECUTE format('DROP TABLE webhooks.%I', part);
        END;
    END LOOP;
END
$$;
