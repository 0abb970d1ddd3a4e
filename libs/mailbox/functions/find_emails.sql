-- Emails whose inboxes live, without their bodies. What is not there is left out. Each is looked up
-- by its key, whatever the planner thinks of joins. Planned once for each connection, as
-- mailbox.list_emails.
CREATE OR REPLACE FUNCTION mailbox.find_emails(of_accounts uuid[], of_emails uuid[])
RETURNS TABLE (ordinal bigint, email mailbox.emails, email_address text)
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    RETURN QUERY
        SELECT asked.ordinal, e.whole, i.email_address
        FROM unnest(of_accounts, of_emails) WITH ORDINALITY
                 AS asked (account_id, email_id, ordinal)
            CROSS JOIN LATERAL (
                SELECT stored AS whole, stored.inbox_id FROM mailbox.emails AS stored
                WHERE stored.account_id = asked.account_id AND stored.email_id = asked.email_id
                OFFSET 0) AS e
            CROSS JOIN LATERAL (
                SELECT live.email_address FROM mailbox.inboxes AS live
                WHERE live.account_id = asked.account_id AND live.inbox_id = e.inbox_id
                    AND live.is_live AND live.expires_at > now()
                OFFSET 0) AS i;
END
$$;
