-- The id of an event that a statement makes of one of many rows: a UUIDv7 of now.
CREATE OR REPLACE FUNCTION mailbox.new_event_id() RETURNS uuid
LANGUAGE sql VOLATILE PARALLEL SAFE AS $$
    -- A random UUID (version 4) with the milliseconds in its first six bytes and two more bits set,
    -- which make it version 7.
    SELECT encode(
        set_bit(set_bit(
            overlay(uuid_send(gen_random_uuid()) PLACING substring(
                int8send(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
                FROM 1 FOR 6),
            52, 1), 53, 1), 'hex')::uuid
$$;
