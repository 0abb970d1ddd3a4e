-- The position of the first event of the account that was recorded at `since` or later; null if
-- there is none. By bisection, because the time rises with the position.
CREATE OR REPLACE FUNCTION webhooks.find_feed_position(account uuid, since timestamptz)
RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    low bigint; -- recorded before `since`, or below every event
    high bigint; -- the first event from here on was recorded at `since` or later
    middle record;
BEGIN
    SELECT e.position - 1 INTO low FROM webhooks.feed_events AS e
        WHERE e.account_id = account ORDER BY e.position LIMIT 1;
    SELECT e.position, e.recorded_at INTO middle FROM webhooks.feed_events AS e
        WHERE e.account_id = account ORDER BY e.position DESC LIMIT 1;
    IF NOT FOUND OR middle.recorded_at < since THEN
        RETURN NULL;
    END IF;
    high := middle.position;
    WHILE high - low > 1 LOOP
        -- The first event behind the middle: positions may have holes.
        SELECT e.position, e.recorded_at INTO middle FROM webhooks.feed_events AS e
            WHERE e.account_id = account AND e.position >= low + (high - low) / 2
            ORDER BY e.position LIMIT 1;
        IF middle.recorded_at >= since THEN
            high := low + (high - low) / 2;
        ELSE
            low := middle.position;
        END IF;
    END LOOP;
    SELECT e.position INTO high FROM webhooks.feed_events AS e
        WHERE e.account_id = account AND e.position >= high ORDER BY e.position LIMIT 1;
    RETURN high;
END
$$;
