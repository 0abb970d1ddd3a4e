-- Counts deleted emails into mailbox.deleted_emails: one row for each account, day and statement.
-- Days that no list shows any more go.
CREATE OR REPLACE FUNCTION mailbox.count_deleted_emails() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO mailbox.deleted_emails AS known (account_id, day, emails)
    SELECT account_id, mailbox.day_of(email_id), count(*) FROM deleted GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (account_id, day) DO UPDATE SET emails = known.emails + excluded.emails;
    DELETE FROM mailbox.deleted_emails AS known
    USING (SELECT DISTINCT account_id FROM deleted) AS touched
    WHERE known.account_id = touched.account_id
        AND known.day < (now() AT TIME ZONE 'UTC')::date - 60;
    RETURN NULL;
END
$$;
