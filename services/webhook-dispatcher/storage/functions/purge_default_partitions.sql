-- Deletes the rows of events before the day `oldest` whose day never had a partition of its own.
CREATE OR REPLACE FUNCTION webhooks.purge_default_partitions(oldest date) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    edge uuid := webhooks.lowest_uuid(oldest::timestamp AT TIME ZONE 'UTC');
BEGIN
    DELETE FROM webhooks.events_default WHERE event_id < edge;
    DELETE FROM webhooks.deliveries_default WHERE event_id < edge;
    DELETE FROM webhooks.attempts_default WHERE event_id < edge;
    DELETE FROM webhooks.routings_default WHERE event_id < edge;
END
$$;
