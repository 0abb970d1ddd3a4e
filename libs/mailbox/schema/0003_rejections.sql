-- Mail for an inbox that was not accepted, for a day: a row for all attempts of one sender that were
-- refused for one reason. Written by mailbox.note_rejections alone.
CREATE TABLE mailbox.rejections (
    account_id uuid NOT NULL,
    inbox_id uuid NOT NULL,
    reason text NOT NULL CHECK (reason IN ('too_large', 'inbox_full', 'over_rate', 'inbox_ended')),
    mail_from text NOT NULL, -- empty: the null sender
    reply text NOT NULL, -- the last one
    attempts bigint NOT NULL,
    first_at timestamptz NOT NULL,
    last_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, inbox_id, reason, mail_from)
) WITH (fillfactor = 70);
CREATE INDEX rejections_by_time ON mailbox.rejections (last_at);

-- What mailbox.note_rejections takes. Fields stand in the order in which ingest_repository writes
-- them; another field makes another type with another name.
CREATE TYPE mailbox.new_rejection AS (
    account_id uuid,
    inbox_id uuid,
    reason text,
    mail_from text,
    reply text,
    attempts bigint,
    first_at timestamptz,
    last_at timestamptz
);
