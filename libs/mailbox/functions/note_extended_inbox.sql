-- Notes an inbox in mailbox.extended_inboxes when its end moves to a later hour.
CREATE OR REPLACE FUNCTION mailbox.note_extended_inbox() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO mailbox.extended_inboxes AS known (account_id, inbox_id, body_hour)
    VALUES (OLD.account_id, OLD.inbox_id, date_trunc('hour', OLD.expires_at, 'UTC'))
    ON CONFLICT (account_id, inbox_id)
        DO UPDATE SET body_hour = least(known.body_hour, excluded.body_hour);
    RETURN NULL;
END
$$;
