-- Marks the logins of an account as changed when its state changed, so that caches drop them.
CREATE OR REPLACE FUNCTION mailbox.note_changed_account() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    next bigint;
BEGIN
    PERFORM 1 FROM mailbox.capture_logins AS l
    WHERE l.account_id = NEW.account_id AND l.revoked_at IS NULL LIMIT 1;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    next := mailbox.next_capture_version();
    UPDATE mailbox.capture_logins AS l SET version = next
    WHERE l.account_id = NEW.account_id AND l.revoked_at IS NULL;
    RETURN NULL;
END
$$;
