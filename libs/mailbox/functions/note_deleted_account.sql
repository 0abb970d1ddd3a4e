-- Notes an account in mailbox.deleted_accounts when its tombstone is stored.
CREATE OR REPLACE FUNCTION mailbox.note_deleted_account() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    -- An update, not nothing: it waits for whoever is taking the row away.
    INSERT INTO mailbox.deleted_accounts (account_id) VALUES (NEW.account_id)
    ON CONFLICT (account_id) DO UPDATE SET noted_at = excluded.noted_at;
    RETURN NULL;
END
$$;
