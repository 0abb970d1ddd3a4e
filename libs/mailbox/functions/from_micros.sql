-- The moment of microseconds since 1970.
CREATE OR REPLACE FUNCTION mailbox.from_micros(micros bigint) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT to_timestamp(micros / 1000000.0)
$$;
