-- Faults on purpose: what an inbox plays to whoever sends to it, in place of replies.

-- One row, incremented in the transaction of every change to a set of steps: its order is the order
-- of commits. Whoever increments it does so last, since it is one row for all accounts.
CREATE TABLE mailbox.fault_changes (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    version bigint NOT NULL
);
INSERT INTO mailbox.fault_changes (version) VALUES (0);

-- Rows only for inboxes that have or had steps; they go once the inbox has ended. Whoever counts
-- uses holds the lock of the inbox's row here.
CREATE TABLE mailbox.fault_sets (
    account_id uuid NOT NULL,
    inbox_id uuid NOT NULL,
    version bigint NOT NULL, -- of fault_changes; another set has another one
    stages integer NOT NULL, -- a bit for each that has steps; 0: there are none any more
    steps bytea NOT NULL, -- tempinbox.inbox.v1.FaultSteps
    PRIMARY KEY (account_id, inbox_id)
) WITH (fillfactor = 70);
CREATE INDEX fault_sets_version ON mailbox.fault_sets (version);

-- What was counted of the steps of a set.
CREATE TABLE mailbox.fault_counts (
    account_id uuid NOT NULL,
    inbox_id uuid NOT NULL,
    step integer NOT NULL, -- its index in the set
    recipient text NOT NULL, -- of a step that counts each by itself; '': of all
    seen bigint NOT NULL,
    used bigint NOT NULL,
    since timestamptz,
    PRIMARY KEY (account_id, inbox_id, step, recipient)
) WITH (fillfactor = 70);
