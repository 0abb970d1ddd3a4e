-- Field `sequence` (number 4, varint) of EmailReceived, to be appended to a message that was
-- serialized without it: fields may come in any order. Always eight bytes of varint, which every
-- reader takes (at most ten are allowed): one shift for each byte and no loop.
CREATE OR REPLACE FUNCTION mailbox.sequence_field(sequence bigint) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT '\x20'::bytea || int8send(
        (((sequence & 127) | 128) << 56) | ((((sequence >> 7) & 127) | 128) << 48) |
        ((((sequence >> 14) & 127) | 128) << 40) | ((((sequence >> 21) & 127) | 128) << 32) |
        ((((sequence >> 28) & 127) | 128) << 24) | ((((sequence >> 35) & 127) | 128) << 16) |
        ((((sequence >> 42) & 127) | 128) << 8) | ((sequence >> 49) & 127))
$$;
