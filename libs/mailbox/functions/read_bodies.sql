-- Bodies by their hours and ids. What is not there, such as one that is being moved into a new
-- partition, is left out. Planned for each hour: there are hundreds, and a lasting plan would lock
-- all of them.
CREATE OR REPLACE FUNCTION mailbox.find_bodies(of_hours timestamptz[], of_bodies uuid[])
RETURNS TABLE (body_id uuid, raw bytea)
LANGUAGE plpgsql STABLE
AS $$
DECLARE
    of_hour timestamptz;
BEGIN
    FOR of_hour IN SELECT DISTINCT h FROM unnest(of_hours) AS h LOOP
        RETURN QUERY EXECUTE
            'SELECT b.body_id, b.raw FROM mailbox.bodies AS b '
            'WHERE b.body_hour = $1 AND b.body_id = ANY ($2)'
            USING of_hour, of_bodies;
    END LOOP;
END
$$;
