-- Subdomains: names below a domain of ours, each held by one account, which has a catch-all and
-- named inboxes there.

ALTER TABLE mailbox.domains
    ADD COLUMN takes_subdomains boolean NOT NULL DEFAULT false, -- new ones
    -- Took some at some time: mail for names below it is looked up, not refused as relaying.
    ADD COLUMN has_subdomains boolean NOT NULL DEFAULT false;

CREATE TABLE mailbox.subdomains (
    account_id uuid NOT NULL, -- who holds it, or held it last
    domain text NOT NULL, -- the whole name, lower case
    live_inboxes bigint NOT NULL, -- in it; it is held while there is one
    until timestamptz NOT NULL, -- once none lives: when another account may take it
    PRIMARY KEY (account_id, domain)
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX subdomains_domain ON mailbox.subdomains (domain);
CREATE INDEX subdomains_quarantine_end ON mailbox.subdomains (until) WHERE live_inboxes = 0;
