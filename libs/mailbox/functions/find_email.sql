-- An email whose inbox lives, with its body; `raw` is NULL while the body is being moved into a new
-- partition. Planned once for each connection, as mailbox.list_emails.
CREATE OR REPLACE FUNCTION mailbox.find_email(of_account uuid, of_email uuid)
RETURNS TABLE (email mailbox.emails, email_address text, raw bytea)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    SELECT e.* INTO email FROM mailbox.emails AS e
    WHERE e.account_id = of_account AND e.email_id = of_email;
    SELECT i.email_address INTO email_address FROM mailbox.inboxes AS i
    WHERE i.account_id = of_account AND i.inbox_id = email.inbox_id
        AND i.is_live AND i.expires_at > now();
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- Planned each time: there are hundreds of hours, and a lasting plan would lock all of them.
    EXECUTE 'SELECT b.raw FROM mailbox.bodies AS b '
            'WHERE b.body_hour = $1 AND b.body_id = $2 AND b.account_id = $3'
        INTO raw USING email.body_hour, email.body_id, of_account;
    RETURN NEXT;
END
$$;
