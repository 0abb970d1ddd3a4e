-- How mail-ingest stores a batch of messages: one statement, its own transaction.

-- Field `sequence` (number 4, varint) of EmailReceived, to be appended to a message that was serialised without it: fields may come in any order.
-- Always eight bytes of varint, which every reader takes (at most ten are allowed): one shift a byte and no loop.
CREATE FUNCTION mailbox.sequence_field(sequence bigint) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT '\x20'::bytea || int8send(
        (((sequence & 127) | 128) << 56) | ((((sequence >> 7) & 127) | 128) << 48) | ((((sequence >> 14) & 127) | 128) << 40) |
        ((((sequence >> 21) & 127) | 128) << 32) | ((((sequence >> 28) & 127) | 128) << 24) | ((((sequence >> 35) & 127) | 128) << 16) |
        ((((sequence >> 42) & 127) | 128) << 8) | ((sequence >> 49) & 127))
$$;

-- Locks the inboxes in id order, keeps those that live by the clock, hands out their sequence numbers, writes emails, bodies and outbox rows and says
-- what became of each delivery: `stored` with its sequence, `gone` or `full` (count or bytes; 0: no limit). What is refused of an inbox is the end of its
-- part of the batch, so sequences have no gaps. Deliveries name their message by its place; lists within a column are joined by U+001F.
CREATE FUNCTION mailbox.store_mail(
    delivery_message integer[], delivery_account uuid[], delivery_inbox uuid[], delivery_email uuid[], delivery_rcpt text[], delivery_headers text[],
    delivery_event bytea[],
    message_body uuid[], message_raw bytea[], message_size bigint[], message_received timestamptz[], message_from text[], message_from_name text[],
    message_subject text[], message_preview text[], message_id text[], message_to text[], message_mail_from text[], message_remote text[],
    message_helo text[], message_tls text[], message_attachments integer[], message_codes text[], message_links text[], message_defects text[],
    message_sha256 bytea[],
    owner text, most_emails bigint, most_bytes bigint)
RETURNS TABLE (place bigint, outcome text, sequence bigint) LANGUAGE plpgsql
SET enable_seqscan = off -- the plan is made once and must not depend on how small the tables were then
AS $$
#variable_conflict use_column
DECLARE
    moment timestamptz;
BEGIN
    PERFORM 1 FROM mailbox.inboxes AS i
    WHERE (i.account_id, i.inbox_id) IN (SELECT * FROM unnest(delivery_account, delivery_inbox))
    ORDER BY i.inbox_id FOR UPDATE;
    moment := clock_timestamp();

    RETURN QUERY
    WITH message AS MATERIALIZED (
        SELECT * FROM unnest(message_body, message_raw, message_size, message_received, message_from, message_from_name, message_subject,
                             message_preview, message_id, message_to, message_mail_from, message_remote, message_helo, message_tls,
                             message_attachments, message_codes, message_links, message_defects, message_sha256) WITH ORDINALITY
            AS m(body, raw, size, received, sender, sender_name, subject, preview, message_id, to_header, mail_from, remote, helo, tls, attachments,
                 codes, links, defects, sha256, place)
    ), delivery AS (
        SELECT d.*, m.size, m.received,
               row_number() OVER earlier AS rank,
               coalesce(sum(m.size) OVER (earlier ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes_before
        FROM unnest(delivery_message, delivery_account, delivery_inbox, delivery_email, delivery_rcpt, delivery_headers, delivery_event) WITH ORDINALITY
                 AS d(message, account, inbox, email, rcpt, headers, event, place)
        JOIN message AS m ON m.place = d.message
        WINDOW earlier AS (PARTITION BY d.inbox ORDER BY d.place)
    ), judged AS MATERIALIZED (
        SELECT d.*, i.expires_at, i.last_sequence + d.rank AS sequence,
               CASE WHEN i.is_live IS NOT TRUE OR i.expires_at <= moment THEN 'gone'
                    WHEN most_emails > 0 AND i.email_count + d.rank > most_emails THEN 'full'
                    WHEN most_bytes > 0 AND i.email_bytes + d.bytes_before >= most_bytes THEN 'full'
                    ELSE 'stored' END AS outcome
        FROM delivery AS d LEFT JOIN mailbox.inboxes AS i ON i.account_id = d.account AND i.inbox_id = d.inbox
    ), stored AS (
        SELECT j.*, date_trunc('hour', max(j.expires_at) OVER same_message, 'UTC') AS body_hour, count(*) OVER same_message > 1 AS is_shared,
               row_number() OVER same_message = 1 AS is_first
        FROM judged AS j WHERE j.outcome = 'stored'
        WINDOW same_message AS (PARTITION BY j.message)
    ), new_body AS (
        INSERT INTO mailbox.bodies (body_hour, body_id, raw)
        SELECT s.body_hour, m.body, m.raw FROM stored AS s JOIN message AS m ON m.place = s.message WHERE s.is_first
    ), new_email AS (
        INSERT INTO mailbox.emails (account_id, email_id, inbox_id, sequence, received_at, from_address, from_name, subject, preview, message_id, rcpt_to,
                                    to_header, mail_from, remote_address, helo, tls, size_bytes, attachment_count, codes, links, defects, content_sha256,
                                    body_hour, body_id, is_body_shared)
        SELECT s.account, s.email, s.inbox, s.sequence, m.received, m.sender, m.sender_name, m.subject, m.preview, m.message_id,
               string_to_array(s.rcpt, E'\x1f'), string_to_array(m.to_header, E'\x1f'), m.mail_from, m.remote, m.helo, m.tls, m.size, m.attachments,
               m.codes::jsonb, m.links::jsonb, string_to_array(m.defects, E'\x1f'), m.sha256, s.body_hour, m.body, s.is_shared
        FROM stored AS s JOIN message AS m ON m.place = s.message
    ), new_event AS (
        INSERT INTO mailbox.outbox (event_id, topic, key, sequence, headers, payload, owner, lease_until)
        SELECT s.email, 'email.received', s.inbox::text, s.sequence, s.headers, s.event || mailbox.sequence_field(s.sequence), owner,
               moment + interval '30 seconds'
        FROM stored AS s
    ), counted AS (
        UPDATE mailbox.inboxes AS i
        SET last_sequence = t.last, email_count = i.email_count + t.emails, email_bytes = i.email_bytes + t.bytes,
            last_email_at = greatest(i.last_email_at, t.received)
        FROM (SELECT s.account, s.inbox, max(s.sequence) AS last, count(*) AS emails, sum(s.size) AS bytes, max(s.received) AS received
              FROM stored AS s GROUP BY s.account, s.inbox) AS t
        WHERE i.account_id = t.account AND i.inbox_id = t.inbox
    )
    SELECT j.place, j.outcome, j.sequence FROM judged AS j ORDER BY j.place;
END
$$;
