-- Mail whose 250 its sender may not have seen, so that a second delivery of the same message is known as such.

-- An email with a Message-ID whose session ended before any command after the 250, or that came in the last minute before a mail-ingest process crashed.
CREATE TABLE mailbox.unconfirmed (
    account_id uuid NOT NULL,
    inbox_id uuid NOT NULL,
    email_id uuid NOT NULL,
    sequence bigint NOT NULL,
    mail_from text NOT NULL,
    content_sha256 bytea NOT NULL,
    until timestamptz NOT NULL, -- later the same message is another one
    PRIMARY KEY (account_id, inbox_id, content_sha256, email_id)
);
CREATE INDEX unconfirmed_end ON mailbox.unconfirmed (until);

-- The mail-ingest processes that run: who ends in order removes its row, so a row that is old, or is there when its process starts, tells of a crash.
CREATE TABLE mailbox.ingest_runs (
    replica text PRIMARY KEY,
    alive_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- Emails of a time, whoever has them. They come nearly in order, so a few blocks hold them.
CREATE INDEX emails_by_time ON mailbox.emails USING brin (email_id) WITH (autosummarize = on);

-- mailbox.store_mail, and: a message that an inbox has unconfirmed from the same sender is not stored there again, its outcome is `repeated`, with the id
-- and the sequence of the earlier one. mailbox.store_mail stays for processes of the version before.
CREATE FUNCTION mailbox.store_mail_once(
    delivery_message integer[], delivery_account uuid[], delivery_inbox uuid[], delivery_email uuid[], delivery_rcpt text[], delivery_headers text[],
    delivery_event bytea[],
    message_body uuid[], message_raw bytea[], message_size bigint[], message_received timestamptz[], message_from text[], message_from_name text[],
    message_subject text[], message_preview text[], message_id text[], message_to text[], message_mail_from text[], message_remote text[],
    message_helo text[], message_tls text[], message_attachments integer[], message_codes text[], message_links text[], message_defects text[],
    message_sha256 bytea[],
    owner text, most_emails bigint, most_bytes bigint)
RETURNS TABLE (place bigint, outcome text, sequence bigint, email uuid) LANGUAGE plpgsql
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
        SELECT d.*, m.size, m.received, earlier.email_id AS earlier_email, earlier.sequence AS earlier_sequence
        FROM unnest(delivery_message, delivery_account, delivery_inbox, delivery_email, delivery_rcpt, delivery_headers, delivery_event) WITH ORDINALITY
                 AS d(message, account, inbox, email, rcpt, headers, event, place)
        JOIN message AS m ON m.place = d.message
        LEFT JOIN LATERAL (
            SELECT u.email_id, u.sequence FROM mailbox.unconfirmed AS u
            WHERE u.account_id = d.account AND u.inbox_id = d.inbox AND u.content_sha256 = m.sha256 AND u.mail_from = m.mail_from AND u.until > moment
            ORDER BY u.email_id LIMIT 1) AS earlier ON true
    ), ranked AS (
        SELECT d.*, count(*) FILTER (WHERE d.earlier_email IS NULL) OVER (before_it ROWS UNBOUNDED PRECEDING) AS rank,
               coalesce(sum(d.size) FILTER (WHERE d.earlier_email IS NULL) OVER (before_it ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)
                   AS bytes_before
        FROM delivery AS d
        WINDOW before_it AS (PARTITION BY d.inbox ORDER BY d.place)
    ), judged AS MATERIALIZED (
        SELECT d.*, i.expires_at, coalesce(d.earlier_sequence, i.last_sequence + d.rank) AS sequence,
               CASE WHEN i.is_live IS NOT TRUE OR i.expires_at <= moment THEN 'gone'
                    WHEN d.earlier_email IS NOT NULL THEN 'repeated'
                    WHEN most_emails > 0 AND i.email_count + d.rank > most_emails THEN 'full'
                    WHEN most_bytes > 0 AND i.email_bytes + d.bytes_before >= most_bytes THEN 'full'
                    ELSE 'stored' END AS outcome
        FROM ranked AS d LEFT JOIN mailbox.inboxes AS i ON i.account_id = d.account AND i.inbox_id = d.inbox
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
    SELECT j.place, j.outcome, j.sequence, coalesce(j.earlier_email, j.email) FROM judged AS j ORDER BY j.place;
END
$$;
