-- How often emails of the inbox were deleted or marked. With last_sequence and email_count it names a state of the inbox's emails: a list that was made of the same
-- state is still right. Whoever changes emails of a live inbox changes one of the three in the same transaction.
ALTER TABLE mailbox.inboxes ADD COLUMN mail_changes bigint NOT NULL DEFAULT 0;

-- What mailbox.list_emails with seven parameters (0007) took the place of has no caller left.
DROP FUNCTION mailbox.list_emails(uuid, uuid, bigint, bigint, integer);
