-- The lowest UUIDv7 of the millisecond that a moment lies in: no id made at or after the moment is lower.
-- Each schema that names this file in libs/migrations/schemas.cpp has the function as its own.
-- STABLE, as what it calls is: declared IMMUTABLE it is never inlined, but parsed and planned by every statement that calls it.
CREATE OR REPLACE FUNCTION lowest_uuid(moment timestamptz) RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT (lpad(to_hex(floor(extract(epoch FROM moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;
