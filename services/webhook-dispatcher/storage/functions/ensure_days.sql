-- Makes the partitions of the days from `first` to `last` if they are missing. LIKE and ATTACH need
-- no exclusive lock on the parent.
CREATE OR REPLACE FUNCTION webhooks.ensure_days(first date, last date) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    parent text;
    part text;
    day date;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('webhooks.partitions'));
    FOREACH parent IN ARRAY ARRAY['events', 'deliveries', 'attempts', 'routings'] LOOP
        FOR day IN SELECT generate_series(first, last, interval '1 day') LOOP
            part := parent || '_' || to_char(day, 'YYYYMMDD');
            CONTINUE WHEN to_regclass('webhooks.' || part) IS NOT NULL;
            EXECUTE format('CREATE TABLE webhooks.%I '
                           '(LIKE webhooks.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)',
                           part, parent);
            BEGIN
                EXECUTE format('ALTER TABLE webhooks.%I ATTACH PARTITION webhooks.%I '
                               'FOR VALUES FROM (%L) TO (%L)', parent, part,
                               webhooks.lowest_uuid(day::timestamp AT TIME ZONE 'UTC'),
                               webhooks.lowest_uuid((day + 1)::timestamp AT TIME ZONE 'UTC'));
            EXCEPTION WHEN check_violation THEN
                -- Rows of that day are in the default partition already: they stay there until
                -- their retention ends.
                EXECUTE format('DROP TABLE webhooks.%I', part);
            END;
        END LOOP;
    END LOOP;
END
$$;
