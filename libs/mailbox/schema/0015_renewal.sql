-- Inboxes that live on for as long as they are used.
ALTER TABLE mailbox.inboxes
    -- Null: nobody chose, so it does not, and a login brings what captures have.
    ADD COLUMN renews_on_use boolean,
    -- As it was changed last; null: that of the creation (first_expires_at - created_at).
    ADD COLUMN ttl_seconds bigint;
