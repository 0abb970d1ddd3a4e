-- The recipients of an unacknowledged email: the same message to somebody else is another email.
-- Null in a row of an earlier release, which no message repeats.
ALTER TABLE mailbox.unacknowledged_emails ADD COLUMN rcpt_to text[];
UPDATE mailbox.unacknowledged_emails AS u SET rcpt_to = e.rcpt_to FROM mailbox.emails AS e
WHERE e.account_id = u.account_id AND e.email_id = u.email_id;
