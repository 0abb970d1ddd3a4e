-- contract of v0.2.0
-- Filters look at links, too, and at the message, which body_hour and body_id find.
CREATE OR REPLACE VIEW mailbox.email_summaries AS
SELECT account_id, email_id, inbox_id, sequence, from_address, from_name, rcpt_to, subject,
    preview, received_at, size_bytes, attachment_count, is_read, codes, to_header, header_addresses,
    links, body_hour, body_id
FROM mailbox.emails;

-- Replaced by functions that take bounds of the emails' ids as well.
DROP FUNCTION IF EXISTS mailbox.list_emails(uuid, uuid, bigint, bigint, integer);
DROP FUNCTION IF EXISTS mailbox.list_emails_oldest_first(uuid, uuid, bigint, bigint, integer);
DROP FUNCTION IF EXISTS mailbox.list_account_emails(uuid, uuid, integer);
DROP FUNCTION IF EXISTS mailbox.list_account_emails_oldest_first(uuid, uuid, integer);
