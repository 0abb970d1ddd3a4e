-- How a batch of inboxes is created, in the caller's transaction, which has locked their accounts:
-- so all creations of one account come one after the other. Returns what became of each:
--   created    with its address and times; its account's live inboxes are counted
--   existing   its account has an inbox of that id; nothing is written
--   refused    as the caller said
--   no_domain  the domain is neither one of ours nor a subdomain that the account holds
--   limit      the account has as many live inboxes as it may
--   taken      the address is an inbox's, quarantined or reserved
--   again      another inbox of the batch has its id, or its free address: to be asked for once
--              that one is decided; at the limit the address does not matter
--   lost       another transaction took the address meanwhile, so the ranks of its account's later
--              inboxes may be wrong: it and those at the limit are to be asked for again
-- An inbox counts against the limit in the order of the batch, and only if its address is free.
-- The holder of a subdomain may have an address in it again at once, though it is quarantined.
-- Of a catch-all, `*`, the caller has taken the subdomain (subdomain_creation.hpp).
CREATE OR REPLACE FUNCTION mailbox.create_inboxes(
    requested mailbox.new_inbox[], latest_end timestamptz)
RETURNS TABLE (
    ordinal bigint, outcome text, email_address text, created_micros bigint, expires_micros bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    default_domain text := (SELECT d.domain FROM mailbox.domains AS d WHERE d.is_default);
    moment timestamptz;
BEGIN
    -- Who ends inboxes changes the counts, too.
    PERFORM 1 FROM mailbox.live_inbox_counts AS c
    WHERE c.account_id IN (SELECT r.account_id FROM unnest(requested) AS r)
    ORDER BY c.account_id FOR UPDATE;
    PERFORM 1 FROM mailbox.subdomains AS s
    WHERE s.domain = ANY (ARRAY(
            SELECT r.domain FROM unnest(requested) AS r WHERE r.domain IS NOT NULL))
        AND s.account_id = ANY (ARRAY(SELECT r.account_id FROM unnest(requested) AS r))
    ORDER BY s.domain FOR UPDATE;
    moment := date_trunc('milliseconds', clock_timestamp());

    RETURN QUERY
    WITH given AS (
        SELECT r.*, s.domain AS subdomain,
               r.local_part || '@' || coalesce(d.domain, s.domain) AS address,
               least(moment + make_interval(secs => r.ttl_seconds), latest_end) AS past
        FROM unnest(requested) WITH ORDINALITY
                 AS r(account, inbox, is_refused, local_part, domain, is_reserved, ttl_seconds,
                      max_live, name, tags, metadata, created_event, ordinal)
            LEFT JOIN mailbox.domains AS d ON d.domain = coalesce(r.domain, default_domain)
            LEFT JOIN mailbox.subdomains AS s
                ON d.domain IS NULL AND s.domain = r.domain AND s.account_id = r.account
                    AND (s.live_inboxes > 0 OR r.local_part = '*')
    ), examined AS (
        SELECT g.*, coalesce(c.live_inboxes, 0) AS live, i.inbox_id IS NOT NULL AS is_existing,
               g.is_reserved OR coalesce(
                   a.state = 'live' OR a.until > now() AND (
                       g.subdomain IS NULL OR a.account_id <> g.account), false) AS is_taken
        FROM given AS g
            LEFT JOIN mailbox.inboxes AS i ON i.account_id = g.account AND i.inbox_id = g.inbox
            LEFT JOIN mailbox.addresses AS a ON a.address = g.address
            LEFT JOIN mailbox.live_inbox_counts AS c ON c.account_id = g.account
    ), sorted AS (
        SELECT e.*,
               CASE WHEN e.is_existing THEN 'existing'
                    WHEN e.is_refused THEN 'refused'
                    WHEN e.address IS NULL THEN 'no_domain'
                    WHEN row_number() OVER (PARTITION BY e.account, e.inbox ORDER BY e.ordinal) > 1
                        OR NOT e.is_taken AND e.live < e.max_live
                            AND row_number() OVER (PARTITION BY e.address ORDER BY e.ordinal) > 1
                        THEN 'again' END AS known
        FROM examined AS e
    ), ranked AS (
        SELECT s.*,
               s.live + count(*) FILTER (WHERE s.known IS NULL AND NOT s.is_taken)
                   OVER (PARTITION BY s.account ORDER BY s.ordinal
                         ROWS UNBOUNDED PRECEDING) AS live_with_it
        FROM sorted AS s
    ), judged AS MATERIALIZED (
        SELECT r.*,
               CASE WHEN r.known IS NOT NULL THEN r.known
                    WHEN r.live_with_it > r.max_live
                        OR r.is_taken AND r.live_with_it = r.max_live THEN 'limit'
                    WHEN r.is_taken THEN 'taken'
                    ELSE 'created' END AS outcome
        FROM ranked AS r
    ), new_address AS (
        INSERT INTO mailbox.addresses AS a (address, account_id, inbox_id, state, until)
        SELECT j.address, j.account, j.inbox, 'live', j.past
        FROM judged AS j WHERE j.outcome = 'created' ORDER BY j.address
        ON CONFLICT (address) DO UPDATE
            SET account_id = excluded.account_id, inbox_id = excluded.inbox_id, state = 'live',
                until = excluded.until
            WHERE a.state = 'quarantined' AND (a.until <= now() OR EXISTS (
                SELECT 1 FROM mailbox.subdomains AS s
                WHERE s.account_id = a.account_id AND s.account_id = excluded.account_id
                    AND s.domain = split_part(a.address, '@', 2)))
        RETURNING a.address
    ), new_inbox AS (
        INSERT INTO mailbox.inboxes (
            account_id, inbox_id, email_address, name, tags, metadata, created_at, expires_at,
            created_event_id, first_expires_at)
        SELECT j.account, j.inbox, j.address, j.name, j.tags, j.metadata::jsonb, moment, j.past,
               j.created_event, j.past
        FROM judged AS j JOIN new_address AS n ON n.address = j.address
        WHERE j.outcome = 'created'
        RETURNING account_id
    ), counted AS (
        INSERT INTO mailbox.live_inbox_counts AS u (account_id, live_inboxes)
        SELECT n.account_id, count(*) FROM new_inbox AS n
        GROUP BY n.account_id ORDER BY n.account_id
        ON CONFLICT (account_id) DO UPDATE
            SET live_inboxes = u.live_inboxes + excluded.live_inboxes
    ), counted_below AS (
        UPDATE mailbox.subdomains AS s SET live_inboxes = s.live_inboxes + n.inboxes
        FROM (SELECT j.account, j.subdomain, count(*) AS inboxes
              FROM judged AS j JOIN new_address AS a ON a.address = j.address
              WHERE j.outcome = 'created' AND j.subdomain IS NOT NULL
              GROUP BY j.account, j.subdomain) AS n
        WHERE s.account_id = n.account AND s.domain = n.subdomain
    )
    SELECT j.ordinal,
           CASE WHEN j.outcome = 'created' AND n.address IS NULL THEN 'lost' ELSE j.outcome END,
           j.address, mailbox.to_micros(moment), mailbox.to_micros(j.past)
    FROM judged AS j LEFT JOIN new_address AS n ON n.address = j.address
    ORDER BY j.ordinal;
END
$$;
