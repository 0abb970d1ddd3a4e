-- contract of v0.2.0
-- Whom the header of an email names in To, Cc and Reply-To:
-- {"to": [{"address": "ann@x.test", "name": "Ann"}], "cc": [], "replyTo": []}
-- Null for an email of an earlier release, which has the addresses of To alone, in to_header; it is
-- not used for new ones. No row is rewritten.
ALTER TABLE mailbox.emails
    ADD COLUMN header_addresses jsonb,
    ALTER COLUMN to_header DROP NOT NULL;

CREATE OR REPLACE VIEW mailbox.email_summaries AS
SELECT account_id, email_id, inbox_id, sequence, from_address, from_name, rcpt_to, subject,
    preview, received_at, size_bytes, attachment_count, is_read, codes, to_header, header_addresses
FROM mailbox.emails;

ALTER TYPE mailbox.new_message
    DROP ATTRIBUTE to_header,
    ADD ATTRIBUTE header_addresses text;
