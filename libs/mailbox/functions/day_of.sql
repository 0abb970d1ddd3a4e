-- The moment of a UUIDv7, as a UTC day.
CREATE OR REPLACE FUNCTION mailbox.day_of(id uuid) RETURNS date
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT date '1970-01-01'
        + (('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 86400000)::integer
$$;
