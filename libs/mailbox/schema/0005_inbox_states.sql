-- Counts the changes of an inbox that the topic inbox.state reports, so that an older record is
-- told from a newer one.
ALTER TABLE mailbox.inboxes ADD COLUMN state_version bigint NOT NULL DEFAULT 1;
