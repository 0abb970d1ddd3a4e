-- Deletes emails of live inboxes, no two of them equal, and counts them out of their inboxes. What
-- is not there is left out; the caller deletes the bodies that are left. Locks the inboxes first
-- and in the order of their ids, as mail-ingest does, so that counts and rows agree. Each row is
-- looked up by its key, whatever the planner thinks of joins.
CREATE OR REPLACE FUNCTION mailbox.delete_emails(of_accounts uuid[], of_emails uuid[])
RETURNS TABLE (body_micros bigint, body_id uuid, is_body_shared boolean, ordinal bigint)
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
            SELECT a.ordinal, a.account_id, a.email_id, e.inbox_id
            FROM unnest(of_accounts, of_emails) WITH ORDINALITY
                     AS a (account_id, email_id, ordinal)
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
        deleted AS (
            DELETE FROM mailbox.emails AS e
            USING asked JOIN locked USING (account_id, inbox_id)
            WHERE e.account_id = asked.account_id AND e.email_id = asked.email_id
            RETURNING asked.ordinal, e.account_id, e.inbox_id, e.size_bytes, e.body_hour,
                e.body_id, e.is_body_shared),
        counted AS (
            UPDATE mailbox.inboxes AS i
            SET email_count = greatest(0, i.email_count - gone.emails),
                email_bytes = greatest(0, i.email_bytes - gone.bytes),
                mail_changes = i.mail_changes + 1
            FROM (SELECT d.account_id, d.inbox_id, count(*) AS emails,
                         sum(d.size_bytes)::bigint AS bytes
                  FROM deleted AS d GROUP BY d.account_id, d.inbox_id) AS gone
            WHERE i.account_id = gone.account_id AND i.inbox_id = gone.inbox_id)
        SELECT mailbox.to_micros(d.body_hour), d.body_id, d.is_body_shared, d.ordinal
        FROM deleted AS d;
END
$$;
