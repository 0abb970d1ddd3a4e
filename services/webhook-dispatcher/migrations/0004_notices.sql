-- Accounts are told by mail when a webhook of theirs was switched off: by the gateway, which asks for what is owed.
ALTER TABLE webhooks.endpoint
    ADD COLUMN notice_id uuid, -- of this switching off
    ADD COLUMN notice_at timestamptz; -- when it may be told next; null: nothing is owed
CREATE INDEX endpoint_notice ON webhooks.endpoint (notice_at) WHERE notice_at IS NOT NULL;
