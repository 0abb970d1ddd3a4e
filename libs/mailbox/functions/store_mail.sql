-- How mail-ingest stores a batch of messages: one statement, its own transaction.
-- Locks the inboxes in id order, keeps those that live by the clock, hands out their sequence
-- numbers, writes emails, outbox rows and one body of a message for each account, and returns what
-- became of each delivery:
--   stored    with its sequence
--   repeated  the inbox has the message from the same sender, to these recipients at least, as an
--             unacknowledged email: nothing is stored; with that email's id and sequence
--   gone      the inbox does not live
--   full      by count or bytes (0: no limit)
--   full_for_now  the same, of an inbox whose oldest mail is about to go
-- What is refused of an inbox is the end of its part of the batch, so sequences have no gaps.
-- A delivery names its message by ordinal, from 1. What it needs of the message is taken out of the
-- array by the ordinal: a table of the messages would be copied into a CTE and joined three times.
-- Raw messages are an array of their own: inside `messages` each would be copied twice more, which
-- costs a batch of 64 mails a tenth of its time (docs/decisions/0015-arrays-to-sql.md).
-- The function has no settings of its own: connections have them (docs/decisions/
-- 0006-plans-of-a-queue.md), and setting them costs every call.
CREATE OR REPLACE FUNCTION mailbox.store_mail(
    deliveries mailbox.new_delivery[], messages mailbox.new_message[], message_raw bytea[],
    owner text, max_emails bigint, max_bytes bigint)
RETURNS TABLE (ordinal bigint, outcome text, sequence bigint, email uuid)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz;
BEGIN
    PERFORM 1 FROM mailbox.inboxes AS i
    WHERE (i.account_id, i.inbox_id) IN (
        SELECT d.account_id, d.inbox_id FROM unnest(deliveries) AS d)
    ORDER BY i.inbox_id FOR UPDATE;
    moment := clock_timestamp();

    RETURN QUERY
    WITH delivery AS (
        SELECT d.*, (messages[d.message]).size_bytes AS size,
               (messages[d.message]).received_at AS received,
               earlier.email_id AS earlier_email, earlier.sequence AS earlier_sequence
        FROM unnest(deliveries) WITH ORDINALITY
                 AS d(message, account, inbox, email, rcpt_to, headers, event, ordinal)
        LEFT JOIN LATERAL (
            SELECT u.email_id, u.sequence FROM mailbox.unacknowledged_emails AS u
            WHERE u.account_id = d.account AND u.inbox_id = d.inbox
                AND u.content_sha256 = (messages[d.message]).content_sha256
                AND u.mail_from = (messages[d.message]).mail_from AND u.until > moment
                AND d.rcpt_to <@ u.rcpt_to
            ORDER BY u.email_id LIMIT 1) AS earlier ON true
    ), ranked AS (
        SELECT d.*,
               count(*) FILTER (WHERE d.earlier_email IS NULL)
                   OVER (so_far ROWS UNBOUNDED PRECEDING) AS rank,
               coalesce(sum(d.size) FILTER (WHERE d.earlier_email IS NULL)
                   OVER (so_far ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)
                   AS bytes_before
        FROM delivery AS d
        WINDOW so_far AS (PARTITION BY d.inbox ORDER BY d.ordinal)
    ), judged AS MATERIALIZED (
        SELECT d.*, i.expires_at,
               coalesce(d.earlier_sequence, i.last_sequence + d.rank) AS sequence,
               CASE WHEN i.is_live IS NOT TRUE OR i.expires_at <= moment THEN 'gone'
                    WHEN d.earlier_email IS NOT NULL THEN 'repeated'
                    WHEN max_emails > 0 AND i.email_count + d.rank > max_emails
                        OR max_bytes > 0 AND i.email_bytes + d.bytes_before >= max_bytes
                        THEN CASE WHEN i.drops_oldest THEN 'full_for_now' ELSE 'full' END
                    ELSE 'stored' END AS outcome
        FROM ranked AS d
            LEFT JOIN mailbox.inboxes AS i ON i.account_id = d.account AND i.inbox_id = d.inbox
    ), stored AS (
        SELECT j.*, date_trunc('hour', max(j.expires_at) OVER same_body, 'UTC') AS body_hour,
               count(*) OVER (PARTITION BY j.message) > 1 AS is_shared,
               row_number() OVER same_body = 1 AS is_first
        FROM judged AS j WHERE j.outcome = 'stored'
        WINDOW same_body AS (PARTITION BY j.message, j.account)
    ), new_body AS (
        INSERT INTO mailbox.bodies (body_hour, body_id, account_id, raw)
        SELECT s.body_hour, (messages[s.message]).body_id, s.account, message_raw[s.message]
        FROM stored AS s WHERE s.is_first
    ), new_email AS (
        INSERT INTO mailbox.emails (
            account_id, email_id, inbox_id, sequence, received_at,
            from_address, from_name,
            subject,
            preview, message_id,
            rcpt_to, header_addresses,
            mail_from, remote_address,
            helo,
            tls, size_bytes, attachment_count,
            codes, links,
            defects, content_sha256, login,
            body_hour, body_id, is_body_shared)
        SELECT s.account, s.email, s.inbox, s.sequence, s.received,
               (messages[s.message]).from_address, (messages[s.message]).from_name,
               (messages[s.message]).subject,
               (messages[s.message]).preview, (messages[s.message]).message_id,
               s.rcpt_to, (messages[s.message]).header_addresses::jsonb,
               (messages[s.message]).mail_from, (messages[s.message]).remote_address,
               (messages[s.message]).helo,
               (messages[s.message]).tls, s.size, (messages[s.message]).attachment_count,
               (messages[s.message]).codes::jsonb, (messages[s.message]).links::jsonb,
               (messages[s.message]).defects, (messages[s.message]).content_sha256,
               (messages[s.message]).login,
               s.body_hour, (messages[s.message]).body_id, s.is_shared
        FROM stored AS s
    ), new_event AS (
        INSERT INTO mailbox.outbox (
            event_id, account_id, topic, key, sequence, headers,
            payload, owner, lease_until)
        SELECT s.email, s.account, 'email.received', s.inbox::text, s.sequence,
               s.headers || 'ce_sequence: ' || lpad(s.sequence::text, 19, '0') || E'\n',
               s.event || mailbox.sequence_field(s.sequence), owner, moment + interval '30 seconds'
        FROM stored AS s
    ), counted AS (
        UPDATE mailbox.inboxes AS i
        SET last_sequence = t.last, email_count = i.email_count + t.emails,
            email_bytes = i.email_bytes + t.bytes,
            last_email_at = greatest(i.last_email_at, t.received),
            needs_trim = i.needs_trim OR i.drops_oldest IS TRUE AND (
                max_emails > 0 AND (i.email_count + t.emails) * 10 >= max_emails * 9
                OR max_bytes > 0 AND (i.email_bytes + t.bytes) * 10 >= max_bytes * 9)
        FROM (SELECT s.account, s.inbox, max(s.sequence) AS last, count(*) AS emails,
                     sum(s.size) AS bytes, max(s.received) AS received
              FROM stored AS s GROUP BY s.account, s.inbox) AS t
        WHERE i.account_id = t.account AND i.inbox_id = t.inbox
    )
    SELECT j.ordinal, j.outcome, j.sequence, coalesce(j.earlier_email, j.email)
    FROM judged AS j ORDER BY j.ordinal;
END
$$;
