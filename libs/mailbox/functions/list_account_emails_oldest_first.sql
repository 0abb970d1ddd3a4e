-- An account's emails above an id, oldest first, whether their inboxes live or not: the opposite
-- of mailbox.list_account_emails, by the same indexes.
CREATE OR REPLACE FUNCTION mailbox.list_account_emails_oldest_first(
    of_account uuid, above uuid, max_emails integer)
RETURNS SETOF mailbox.email_summaries
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_sort = off
SET jit = off
AS $$
BEGIN
    RETURN QUERY
        SELECT e.* FROM mailbox.email_summaries AS e
        WHERE e.account_id = of_account AND e.email_id > above
        ORDER BY e.email_id LIMIT max_emails;
END
$$;
