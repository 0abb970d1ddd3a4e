-- What mailbox.create_inboxes takes of an inbox. Fields stand in the order in which inbox_creation
-- writes them; another field makes another type with another name.
CREATE TYPE mailbox.new_inbox AS (
    account_id uuid,
    inbox_id uuid,
    is_refused boolean, -- for what only the caller knows; one that was created before is found
    local_part text,
    domain text, -- null: the default one
    is_reserved boolean, -- the local part is never given to customers
    ttl_seconds bigint,
    max_live bigint, -- inboxes of its account
    name text,
    tags text[],
    metadata text,
    created_event_id uuid
);
