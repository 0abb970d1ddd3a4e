-- Counts the blocks whose lease has ended as used. Should a holder still live, it has its units
-- nevertheless, and gives back at its next sync what it did not spend.
CREATE OR REPLACE FUNCTION quota.write_off(max_blocks integer)
RETURNS TABLE (blocks bigint, units bigint) LANGUAGE plpgsql AS $$
DECLARE
    ended record;
    written bigint;
BEGIN
    blocks := 0;
    units := 0;
    FOR ended IN
        SELECT t.account_id, t.day, t.block_id FROM
            (SELECT e.account_id, e.day, e.block_id FROM quota.blocks AS e
             WHERE e.lease_until < clock_timestamp() ORDER BY e.lease_until LIMIT max_blocks) AS t
        ORDER BY t.account_id, t.day, t.block_id
    LOOP
        PERFORM 1 FROM quota.days AS t
        WHERE t.account_id = ended.account_id AND t.day = ended.day FOR UPDATE;
        UPDATE quota.blocks AS t SET lost = t.granted - t.spent, lease_until = NULL
        WHERE t.account_id = ended.account_id AND t.day = ended.day
          AND t.block_id = ended.block_id AND t.lease_until < clock_timestamp()
        RETURNING t.lost INTO written;
        IF FOUND THEN
            UPDATE quota.days AS t
            SET used = t.used + written, outstanding = t.outstanding - written
            WHERE t.account_id = ended.account_id AND t.day = ended.day;
            blocks := blocks + 1;
            units := units + written;
        END IF;
    END LOOP;
    RETURN NEXT;
END
$$;
