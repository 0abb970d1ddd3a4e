-- Gives each event of the arrays that its feed does not have yet the next position, and stores it; one row for
-- each such event comes back. Events of accounts that are not recorded are left out. None of the
-- events was recorded before `oldest`. `waited` are the microseconds until the locks were held.
--
-- The locks come first, in the order of the ids, and what is stored is looked at by the next
-- statement: a statement that locks and looks would see what was committed before it got the lock,
-- and two callers would record an event twice (a VOLATILE function under READ COMMITTED takes a
-- snapshot for each statement). Only what this call has locked is numbered: an account that is
-- switched on meanwhile is not.
--
-- The first recording of an account on another server begins an epoch.
CREATE OR REPLACE FUNCTION webhooks.record_events(events uuid[], accounts uuid[], inboxes uuid[],
                                                  types integer[], bodies bytea[],
                                                  oldest timestamptz)
RETURNS TABLE (of_event uuid, of_account uuid, in_epoch integer, at_position bigint, waited bigint)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    began timestamptz := clock_timestamp();
    moment timestamptz;
    locked uuid[];
    here text := webhooks.feed_server();
BEGIN
    SELECT array_agg(l.account_id) INTO locked FROM (
        SELECT f.account_id FROM webhooks.feeds AS f
        WHERE f.account_id = ANY (accounts) AND f.is_recording
        ORDER BY f.account_id FOR UPDATE) AS l;
    moment := clock_timestamp();
    RETURN QUERY
    WITH fresh AS MATERIALIZED (
        -- OFFSET 0 keeps the look-up one index probe into the partitions since `oldest`.
        SELECT g.*, row_number() OVER (PARTITION BY g.event_id ORDER BY g.n) AS copy
        FROM unnest(events, accounts, inboxes, types, bodies) WITH ORDINALITY
            AS g(event_id, account_id, inbox_id, type, body, n)
        WHERE g.account_id = ANY (locked)
          AND NOT EXISTS (SELECT 1 FROM webhooks.feed_events AS e
                          WHERE e.event_id = g.event_id AND e.recorded_at >= oldest OFFSET 0)
    ), last AS MATERIALIZED (
        -- The clock may step back: no event is recorded before the floor, where it would not count.
        SELECT f.account_id, greatest(moment, f.position_at) AS recorded_at,
            f.position_at < date_trunc('day', moment, 'UTC') OR f.server <> here AS is_old,
            f.server NOT IN ('', here) AS is_moved,
            CASE WHEN f.server NOT IN ('', here) THEN greatest(f.epoch + 1, webhooks.feed_epoch())
                ELSE f.epoch END AS epoch,
            greatest(f.last_position, (
                SELECT e.position FROM webhooks.feed_events AS e
                WHERE e.account_id = f.account_id AND e.recorded_at >= f.position_at
                ORDER BY e.position DESC LIMIT 1)) AS position
        FROM webhooks.feeds AS f WHERE f.account_id IN (SELECT x.account_id FROM fresh AS x)
    ), numbered AS MATERIALIZED (
        SELECT x.*, l.epoch, l.recorded_at,
            l.position + row_number() OVER (PARTITION BY x.account_id ORDER BY x.n) AS position
        FROM fresh AS x JOIN last AS l ON l.account_id = x.account_id WHERE x.copy = 1
    ), added AS (
        INSERT INTO webhooks.feed_events
            (account_id, position, event_id, inbox_id, type, recorded_at, body)
        SELECT n.account_id, n.position, n.event_id, n.inbox_id, n.type, n.recorded_at, n.body
        FROM numbered AS n
    ), moved AS (
        UPDATE webhooks.feeds AS f SET last_position = l.position, position_at = l.recorded_at,
            server = here, epoch = l.epoch,
            previous_epoch = CASE WHEN l.is_moved THEN f.epoch ELSE f.previous_epoch END,
            epoch_position = CASE WHEN l.is_moved THEN l.position ELSE f.epoch_position END
        FROM last AS l WHERE l.is_old AND f.account_id = l.account_id
    )
    SELECT n.event_id, n.account_id, n.epoch, n.position,
        (extract(epoch FROM moment - began) * 1000000)::bigint
    FROM numbered AS n ORDER BY n.n;
END
$$;
