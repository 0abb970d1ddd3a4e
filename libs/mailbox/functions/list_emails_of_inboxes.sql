-- The emails of several live inboxes of an account, above and below an id: those of one inbox after
-- the other. The bounds of each inbox leave out the partitions that hold nothing of it, so an inbox
-- costs a look into its days alone.
-- Planned once for each connection, as mailbox.list_emails.
CREATE OR REPLACE FUNCTION mailbox.list_emails_of_inboxes(
    of_account uuid, inboxes uuid[], above_id uuid, below_id uuid)
RETURNS SETOF mailbox.email_summaries
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_sort = off
SET jit = off
AS $$
BEGIN
    RETURN QUERY
        SELECT e.* FROM (
            SELECT i.inbox_id,
                greatest(mailbox.lowest_uuid(i.created_at - interval '10 minutes'), above_id)
                    AS lowest,
                least(mailbox.lowest_uuid(coalesce(i.last_email_at, i.created_at)
                    + interval '10 minutes'), below_id) AS past
            FROM mailbox.inboxes AS i
            WHERE i.account_id = of_account AND i.inbox_id = ANY (inboxes)
                AND i.is_live AND i.expires_at > now()
            OFFSET 0) AS of_inbox
        -- The order makes the index of an inbox the one that is used.
        CROSS JOIN LATERAL (
            SELECT s.* FROM mailbox.email_summaries AS s
            WHERE s.account_id = of_account AND s.inbox_id = of_inbox.inbox_id
                AND s.email_id > of_inbox.lowest AND s.email_id < of_inbox.past
            ORDER BY s.sequence DESC) AS e;
END
$$;
