-- An email whose inbox lives, with its body; `raw` is NULL while the body is being moved into a new
-- partition. Planned once for each connection, as mailbox.list_emails.
CREATE OR REPLACE FUNCTION mailbox.find_email(of_account uuid, of_email uuid)
RETURNS TABLE (
    email_id uuid, inbox_id uuid, sequence bigint, from_address text, from_name text,
    rcpt_to text[], subject text, preview text, received_micros bigint, size_bytes bigint,
    attachment_count integer, is_read boolean, codes jsonb, to_header text[], message_id text,
    mail_from text, remote_address text, helo text, tls text, links jsonb, defects text[],
    is_body_shared boolean, email_address text, raw bytea)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    hour timestamptz;
    body uuid;
BEGIN
    SELECT e.email_id, e.inbox_id, e.sequence, e.from_address, e.from_name,
           e.rcpt_to, e.subject, e.preview, mailbox.to_micros(e.received_at), e.size_bytes,
           e.attachment_count, e.is_read, e.codes, e.to_header, e.message_id,
           e.mail_from, e.remote_address, e.helo, e.tls, e.links, e.defects,
           e.is_body_shared, i.email_address, e.body_hour, e.body_id
    INTO email_id, inbox_id, sequence, from_address, from_name,
         rcpt_to, subject, preview, received_micros, size_bytes,
         attachment_count, is_read, codes, to_header, message_id,
         mail_from, remote_address, helo, tls, links, defects,
         is_body_shared, email_address, hour, body
    FROM mailbox.emails AS e
        JOIN mailbox.inboxes AS i ON i.account_id = e.account_id AND i.inbox_id = e.inbox_id
    WHERE e.account_id = of_account AND e.email_id = of_email
        AND i.is_live AND i.expires_at > now();
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- Planned each time: there are hundreds of hours, and a lasting plan would lock all of them.
    EXECUTE 'SELECT b.raw FROM mailbox.bodies AS b WHERE b.body_hour = $1 AND b.body_id = $2'
        INTO raw USING hour, body;
    RETURN NEXT;
END
$$;
