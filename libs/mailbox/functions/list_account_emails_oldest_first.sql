-- As mailbox.list_account_emails, oldest first: reads the same indexes backward.
CREATE OR REPLACE FUNCTION mailbox.list_account_emails_oldest_first(
    of_account uuid, above uuid, below uuid, max_emails integer)
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
        WHERE e.account_id = of_account AND e.email_id > above AND e.email_id < below
        ORDER BY e.email_id LIMIT max_emails;
END
$$;
