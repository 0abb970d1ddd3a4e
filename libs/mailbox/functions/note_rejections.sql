-- How mail-ingest writes a batch of rejections: one statement, its own transaction. Each row of the
-- batch has another inbox, reason or sender.
-- A row is added to the one that is there. Inboxes that do not exist and those that ended a day ago
-- or earlier are left out. An inbox has at most `max_rows` rows; returns how many attempts were
-- dropped for that.
-- An inbox that was full and drops its oldest mail is noted for that once more, should a note be
-- lost or the limits have changed; one that somebody holds is noted with the next refusal.
CREATE OR REPLACE FUNCTION mailbox.note_rejections(
    batch mailbox.new_rejection[], max_rows integer)
RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    dropped bigint;
BEGIN
    -- One batch at a time, so that two replicas cannot both take an inbox's last row.
    PERFORM pg_advisory_xact_lock(hashtext('mailbox.rejections'));

    WITH given AS MATERIALIZED (
        SELECT n.*, r.inbox_id IS NOT NULL AS is_there
        FROM unnest(batch) AS n
            JOIN mailbox.inboxes AS i
                ON i.account_id = n.account_id AND i.inbox_id = n.inbox_id
            LEFT JOIN mailbox.rejections AS r
                ON r.account_id = n.account_id AND r.inbox_id = n.inbox_id
                    AND r.reason = n.reason AND r.mail_from = n.mail_from
        WHERE i.is_live OR i.expired_at > now() - interval '24 hours'
    ), held AS MATERIALIZED (
        SELECT r.account_id, r.inbox_id, count(*) AS row_count
        FROM mailbox.rejections AS r
        WHERE (r.account_id, r.inbox_id) IN (SELECT g.account_id, g.inbox_id FROM given AS g)
        GROUP BY r.account_id, r.inbox_id
    ), ranked AS MATERIALIZED (
        SELECT g.*,
               CASE WHEN g.is_there THEN 0
                    ELSE coalesce(h.row_count, 0) + row_number() OVER (
                        PARTITION BY g.account_id, g.inbox_id, g.is_there ORDER BY g.first_at)
               END AS rank
        FROM given AS g
            LEFT JOIN held AS h ON h.account_id = g.account_id AND h.inbox_id = g.inbox_id
    ), written AS (
        INSERT INTO mailbox.rejections AS r (
            account_id, inbox_id, reason, mail_from, reply, attempts, first_at, last_at)
        SELECT k.account_id, k.inbox_id, k.reason, k.mail_from, k.reply, k.attempts,
               k.first_at, k.last_at
        FROM ranked AS k WHERE k.rank <= max_rows
        ON CONFLICT (account_id, inbox_id, reason, mail_from) DO UPDATE
        SET reply = excluded.reply, attempts = r.attempts + excluded.attempts,
            first_at = least(r.first_at, excluded.first_at),
            last_at = greatest(r.last_at, excluded.last_at)
    )
    SELECT coalesce(sum(k.attempts), 0) INTO dropped FROM ranked AS k WHERE k.rank > max_rows;

    UPDATE mailbox.inboxes AS i SET needs_trim = true
    FROM (SELECT f.account_id, f.inbox_id FROM mailbox.inboxes AS f
          WHERE (f.account_id, f.inbox_id) IN (
                  SELECT n.account_id, n.inbox_id FROM unnest(batch) AS n
                  WHERE n.reason = 'inbox_full')
              AND f.is_live AND f.drops_oldest AND NOT f.needs_trim
          FOR UPDATE SKIP LOCKED) AS full_ones
    WHERE i.account_id = full_ones.account_id AND i.inbox_id = full_ones.inbox_id;
    RETURN dropped;
END
$$;
