-- The version of a change to logins. It locks the row of mailbox.capture_changes until the
-- transaction ends, so versions become visible in their order.
CREATE OR REPLACE FUNCTION mailbox.next_capture_version() RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    taken bigint;
BEGIN
    UPDATE mailbox.capture_changes SET version = version + 1 RETURNING version INTO taken;
    RETURN taken;
END
$$;
