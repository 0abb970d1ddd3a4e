-- Emails to accounts before an inbox of theirs ends.

-- Rows only for inboxes of which an email was sent or is about to be; they go with the inbox's.
CREATE TABLE mailbox.end_notices (
    account_id uuid NOT NULL,
    inbox_id uuid NOT NULL,
    days integer NOT NULL, -- before the end
    notice_id uuid NOT NULL, -- another end has another one
    expires_at timestamptz NOT NULL, -- the end that it is about
    due_at timestamptz NOT NULL, -- when it may be claimed again; infinity: the email was sent
    claims integer NOT NULL, -- how often it was claimed
    PRIMARY KEY (account_id, inbox_id, days)
) WITH (fillfactor = 70);
