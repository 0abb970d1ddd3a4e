-- The day on which units are granted. A clock, so VOLATILE: now() would be the transaction's start.
CREATE OR REPLACE FUNCTION quota.today() RETURNS date LANGUAGE sql VOLATILE AS $$
    SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date
$$;
