-- after the functions

-- A plan that shrinks, or an account that is deleted, ends logins. Deferred, since the row of
-- mailbox.capture_changes is the last that a transaction locks.
CREATE CONSTRAINT TRIGGER note_changed AFTER UPDATE ON mailbox.account_states
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (OLD.state IS DISTINCT FROM NEW.state)
    EXECUTE FUNCTION mailbox.note_changed_account();
