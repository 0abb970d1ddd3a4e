-- after the functions

-- Whoever deletes emails has them counted (mailbox.deleted_emails).
CREATE TRIGGER count_deleted AFTER DELETE ON mailbox.emails REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION mailbox.count_deleted_emails();

-- The bytes are field `deleted` (number 6) of AccountState, but may be part of another: whoever
-- ends inboxes reads the state.
CREATE TRIGGER note_deleted AFTER INSERT OR UPDATE ON mailbox.account_states
    FOR EACH ROW WHEN (position('\x3001'::bytea IN NEW.state) > 0)
    EXECUTE FUNCTION mailbox.note_deleted_account();

-- Whoever extends an inbox without a note in mailbox.extended_inboxes loses its mail.
CREATE TRIGGER note_extended AFTER UPDATE OF expires_at ON mailbox.inboxes
    FOR EACH ROW WHEN (
        OLD.last_sequence > 0
        AND date_trunc('hour', NEW.expires_at, 'UTC') > date_trunc('hour', OLD.expires_at, 'UTC'))
    EXECUTE FUNCTION mailbox.note_extended_inbox();

-- The first days; from then on the inbox service makes them ahead.
SELECT mailbox.ensure_email_day((now() AT TIME ZONE 'UTC')::date + n)
FROM generate_series(0, 2) AS n;
