-- Counts the changes of an inbox that the topic inbox.state reports, so that an older record is
-- told from a newer one.
ALTER TABLE mailbox.inboxes ADD COLUMN state_version bigint NOT NULL DEFAULT 1;

-- For whoever writes a newer state: an older one that waits is not to be published after it.
CREATE INDEX outbox_inbox_states ON mailbox.outbox (key) WHERE topic = 'inbox.state';
