-- An inbox's emails below and above a sequence and an id, newest first. No row if the inbox does not live;
-- one of NULLs if it has no such email.
-- Planning a look into the partitions of emails takes longer than the look, so the plan is made
-- once for each connection: with the partitions left out when it runs, and through indexes however
-- small the tables were when it was made. All of one moment (STABLE).
CREATE OR REPLACE FUNCTION mailbox.list_emails(
    of_account uuid, of_inbox uuid, below bigint, above bigint, above_id uuid, below_id uuid,
    max_emails integer)
RETURNS SETOF mailbox.email_summaries
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_sort = off
SET jit = off
AS $$
DECLARE
    -- No email of the inbox is older or newer; clocks of replicas differ by less than ten minutes.
    lowest uuid;
    past uuid;
    none mailbox.email_summaries;
BEGIN
    SELECT mailbox.lowest_uuid(i.created_at - interval '10 minutes'),
           mailbox.lowest_uuid(coalesce(i.last_email_at, i.created_at) + interval '10 minutes')
    INTO lowest, past
    FROM mailbox.inboxes AS i
    WHERE i.account_id = of_account AND i.inbox_id = of_inbox
        AND i.is_live AND i.expires_at > now();
    IF NOT FOUND THEN
        RETURN;
    END IF;
    lowest := greatest(lowest, above_id);
    past := least(past, below_id);
    RETURN QUERY
        SELECT e.* FROM mailbox.email_summaries AS e
        WHERE e.account_id = of_account AND e.inbox_id = of_inbox
            AND e.email_id >= lowest AND e.email_id < past
            AND e.sequence < below AND e.sequence > above
        ORDER BY e.sequence DESC LIMIT max_emails;
    IF NOT FOUND THEN
        RETURN NEXT none;
    END IF;
END
$$;
