-- What every mail and every list spent on plans and on parsing, not on rows.

-- Planning mailbox.store_mail_once took more than twice as long as storing one mail: the plan is made once a connection. It holds for every batch: rows are
-- found by whole keys, the rest is in memory, and rows go to their partitions when it runs.
ALTER FUNCTION mailbox.store_mail_once(
    integer[], uuid[], uuid[], uuid[], text[], text[], bytea[],
    uuid[], bytea[], bigint[], timestamptz[], text[], text[], text[], text[], text[], text[], text[], text[], text[], text[], integer[], text[], text[], text[],
    bytea[], text, bigint, bigint)
    SET plan_cache_mode = force_generic_plan;

-- STABLE, as what it calls is: declared IMMUTABLE it is never inlined, but parsed and planned by every statement that calls it.
CREATE OR REPLACE FUNCTION mailbox.lowest_uuid(moment timestamptz) RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT (lpad(to_hex(floor(extract(epoch FROM moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
$$;

-- In double precision, about three times as fast as numeric: exact to the microsecond until 2106.
CREATE OR REPLACE FUNCTION mailbox.to_micros(moment timestamptz) RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT (date_part('epoch', moment) * 1000000)::bigint
$$;

-- As mailbox.list_emails with five parameters, which stays for processes of the version before: codes and the To header are NULL unless asked for.
CREATE FUNCTION mailbox.list_emails(of_account uuid, of_inbox uuid, below bigint, above bigint, most integer, with_codes boolean, with_to_header boolean)
RETURNS TABLE (email_id uuid, inbox_id uuid, sequence bigint, from_address text, from_name text, rcpt_to text[], subject text, preview text,
               received_micros bigint, size_bytes bigint, attachment_count integer, is_read boolean, codes jsonb, to_header text[])
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_sort = off
SET jit = off
AS $$
#variable_conflict use_column
DECLARE
    lowest uuid; -- no email of the inbox is older or newer; clocks of replicas differ by less than ten minutes
    past uuid;
BEGIN
    SELECT mailbox.lowest_uuid(i.created_at - interval '10 minutes'),
           mailbox.lowest_uuid(coalesce(i.last_email_at, i.created_at) + interval '10 minutes')
    INTO lowest, past
    FROM mailbox.inboxes AS i WHERE i.account_id = of_account AND i.inbox_id = of_inbox AND i.is_live AND i.expires_at > now();
    IF NOT FOUND THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT e.email_id, e.inbox_id, e.sequence, e.from_address, e.from_name, e.rcpt_to, e.subject, e.preview, mailbox.to_micros(e.received_at),
               e.size_bytes, e.attachment_count, e.is_read, CASE WHEN with_codes THEN e.codes END, CASE WHEN with_to_header THEN e.to_header END
        FROM mailbox.emails AS e
        WHERE e.account_id = of_account AND e.inbox_id = of_inbox AND e.email_id >= lowest AND e.email_id < past
            AND e.sequence < below AND e.sequence > above
        ORDER BY e.sequence DESC LIMIT most;
    IF NOT FOUND THEN
        RETURN NEXT;
    END IF;
END
$$;
