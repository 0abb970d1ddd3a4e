-- What the events of an inbox were made of, so that they can be written again. Null for an inbox of
-- an earlier release.
ALTER TABLE mailbox.inboxes
    ADD COLUMN created_event_id uuid,
    ADD COLUMN expired_event_id uuid,
    ADD COLUMN first_expires_at timestamptz; -- its end as inbox.created named it

-- How far events of a type were written to a topic again (tempinboxctl events backfill).
CREATE TABLE mailbox.backfills (
    event_type text NOT NULL,
    to_topic text NOT NULL,
    since timestamptz NOT NULL,
    until timestamptz NOT NULL,
    position text NOT NULL DEFAULT '', -- the rows up to it are done
    written bigint NOT NULL DEFAULT 0,
    skipped bigint NOT NULL DEFAULT 0, -- of earlier releases
    finished_at timestamptz,
    PRIMARY KEY (event_type, to_topic, since)
);
