-- An epoch that no feed had before: the second, since 2026. A number that the feed's row leads to
-- would be given again by another restore to before the same moment.
CREATE OR REPLACE FUNCTION webhooks.feed_epoch() RETURNS integer LANGUAGE sql VOLATILE AS $$
    SELECT greatest(1, extract(epoch FROM clock_timestamp() - timestamptz '2026-01-01Z')::int)
$$;
