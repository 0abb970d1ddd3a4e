-- Deleted accounts end with their inboxes.

-- Accounts that were deleted and may have live inboxes still: who ends inboxes looks here. A row goes when none of them is left.
CREATE TABLE mailbox.deleted_accounts (
    account_id uuid PRIMARY KEY,
    noted_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- By a trigger, so that processes of the version before note it too. The bytes are field `deleted` (number 6) of AccountState, but may be part of another:
-- who ends inboxes reads the state.
CREATE FUNCTION mailbox.note_deleted_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- An update, not nothing: it waits for whoever is taking the row away.
    INSERT INTO mailbox.deleted_accounts (account_id) VALUES (NEW.account_id)
    ON CONFLICT (account_id) DO UPDATE SET noted_at = excluded.noted_at;
    RETURN NULL;
END
$$;
CREATE TRIGGER note_deleted AFTER INSERT OR UPDATE ON mailbox.account_state
    FOR EACH ROW WHEN (position('\x3001'::bytea IN NEW.state) > 0) EXECUTE FUNCTION mailbox.note_deleted_account();
INSERT INTO mailbox.deleted_accounts (account_id) SELECT account_id FROM mailbox.account_state WHERE position('\x3001'::bytea IN state) > 0;
