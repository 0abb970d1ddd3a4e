-- How long an inbox keeps mail, and what it does when it is full.
ALTER TABLE mailbox.inboxes
    -- Null: as long as the inbox.
    ADD COLUMN max_age_seconds bigint,
    -- When some of its mail may be too old; null where no mail ever is.
    ADD COLUMN age_due_at timestamptz,
    -- Whether the oldest mail goes before the inbox is full, or new mail is refused. Null: nobody
    -- chose, so it is refused, and a login brings what captures have.
    ADD COLUMN drops_oldest boolean,
    -- Set by whoever stores mail past nine tenths of what an inbox may hold.
    ADD COLUMN needs_trim boolean NOT NULL DEFAULT false;
CREATE INDEX inboxes_age_due ON mailbox.inboxes (age_due_at)
    WHERE is_live AND age_due_at IS NOT NULL;
CREATE INDEX inboxes_to_trim ON mailbox.inboxes (account_id, inbox_id)
    WHERE is_live AND needs_trim;
