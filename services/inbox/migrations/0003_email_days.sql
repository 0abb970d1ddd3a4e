-- How many emails each account got a day, of those that are no longer there: those that are there are counted where they stand, so that no mail costs a
-- write for it. Filled by whoever deletes emails, a row an account and day and statement.

CREATE TABLE mailbox.deleted_emails (
    account_id uuid NOT NULL,
    day date NOT NULL, -- on which they came, UTC
    emails bigint NOT NULL,
    PRIMARY KEY (account_id, day)
) WITH (fillfactor = 70);

-- The moment of a UUIDv7, as a UTC day.
CREATE FUNCTION mailbox.day_of(id uuid) RETURNS date LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT date '1970-01-01' + (('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 86400000)::integer
$$;

CREATE FUNCTION mailbox.count_deleted_emails() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO mailbox.deleted_emails AS known (account_id, day, emails)
    SELECT account_id, mailbox.day_of(email_id), count(*) FROM deleted GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (account_id, day) DO UPDATE SET emails = known.emails + excluded.emails;
    DELETE FROM mailbox.deleted_emails AS known
    USING (SELECT DISTINCT account_id FROM deleted) AS touched
    WHERE known.account_id = touched.account_id AND known.day < (now() AT TIME ZONE 'UTC')::date - 60;
    RETURN NULL;
END
$$;
CREATE TRIGGER count_deleted AFTER DELETE ON mailbox.emails REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION mailbox.count_deleted_emails();
