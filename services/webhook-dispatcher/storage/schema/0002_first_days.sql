-- after the functions
-- The partitions that a new database needs before a dispatcher maintains them.
SELECT webhooks.ensure_days((now() AT TIME ZONE 'UTC')::date - 1,
                            (now() AT TIME ZONE 'UTC')::date + 3);
