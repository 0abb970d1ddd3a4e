-- Bodies by their accounts, hours and ids. What is not there, such as one that is being moved into
-- a new partition, is left out. Planned for each hour: there are hundreds, and a lasting plan would
-- lock all of them.
CREATE OR REPLACE FUNCTION mailbox.read_bodies(
    of_accounts uuid[], of_hours timestamptz[], of_bodies uuid[])
RETURNS TABLE (account_id uuid, body_id uuid, raw bytea)
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    of_hour timestamptz;
BEGIN
    FOR of_hour IN SELECT DISTINCT h FROM unnest(of_hours) AS h LOOP
        RETURN QUERY EXECUTE
            'SELECT b.account_id, b.body_id, b.raw '
            'FROM unnest($1, $2, $3) AS wanted (account_id, hour, body_id) CROSS JOIN LATERAL ('
            '    SELECT each.account_id, each.body_id, each.raw FROM mailbox.bodies AS each '
            '    WHERE each.body_hour = $4 AND each.body_id = wanted.body_id '
            '        AND each.account_id = wanted.account_id OFFSET 0) AS b '
            'WHERE wanted.hour = $4'
            USING of_accounts, of_hours, of_bodies, of_hour;
    END LOOP;
END
$$;
