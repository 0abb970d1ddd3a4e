-- after the functions
-- The partitions that a new database needs before a dispatcher maintains them.
SELECT webhooks.ensure_feed_days((now() AT TIME ZONE 'UTC')::date,
                                 (now() AT TIME ZONE 'UTC')::date + 3);
