-- Marks emails of live inboxes, no two of them equal, as read or unread. What is not there is left
-- out. Locks the inboxes first and in the order of their ids, as deletions and mail-ingest do. Each
-- row is looked up by its key, whatever the planner thinks of joins.
CREATE OR REPLACE FUNCTION mailbox.mark_emails(
    of_accounts uuid[], of_emails uuid[], are_read boolean[])
RETURNS TABLE (ordinal bigint, email mailbox.emails)
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET jit = off
AS $$
BEGIN
    RETURN QUERY
        WITH asked AS MATERIALIZED (
            SELECT a.ordinal, a.account_id, a.email_id, a.is_read, e.inbox_id
            FROM unnest(of_accounts, of_emails, are_read) WITH ORDINALITY
                     AS a (account_id, email_id, is_read, ordinal)
                CROSS JOIN LATERAL (
                    SELECT stored.inbox_id FROM mailbox.emails AS stored
                    WHERE stored.account_id = a.account_id AND stored.email_id = a.email_id
                    OFFSET 0) AS e),
        locked AS MATERIALIZED (
            SELECT i.account_id, i.inbox_id
            FROM (SELECT DISTINCT one.inbox_id, one.account_id FROM asked AS one
                  ORDER BY one.inbox_id) AS each
                CROSS JOIN LATERAL (
                    SELECT live.account_id, live.inbox_id FROM mailbox.inboxes AS live
                    WHERE live.account_id = each.account_id AND live.inbox_id = each.inbox_id
                        AND live.is_live AND live.expires_at > now()
                    FOR UPDATE) AS i),
        counted AS (
            UPDATE mailbox.inboxes AS i SET mail_changes = i.mail_changes + 1 FROM locked
            WHERE i.account_id = locked.account_id AND i.inbox_id = locked.inbox_id)
        UPDATE mailbox.emails AS e SET is_read = asked.is_read
        FROM asked JOIN locked USING (account_id, inbox_id)
        WHERE e.account_id = asked.account_id AND e.email_id = asked.email_id
        RETURNING asked.ordinal, e;
END
$$;
