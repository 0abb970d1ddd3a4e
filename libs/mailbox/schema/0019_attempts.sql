-- What senders did with inboxes that have a login or faults on purpose, or are catch-alls: a row for
-- each SMTP transaction and inbox, for 72 hours, the newest 1,000 of an inbox.
CREATE TABLE mailbox.attempts (
    account_id uuid NOT NULL,
    inbox_id uuid NOT NULL,
    attempt_id uuid NOT NULL, -- version 7: they sort by time
    at timestamptz NOT NULL,
    -- How the session ended whose last attempt this is: 'quit', 'dropped' by the client, or 'closed'.
    session_end text CHECK (session_end IN ('quit', 'dropped', 'closed')),
    attempt bytea NOT NULL, -- tempinbox.mailbox.v1.Attempt
    PRIMARY KEY (account_id, inbox_id, attempt_id)
);
CREATE INDEX attempts_by_time ON mailbox.attempts (at);
