-- What each account used of its daily limit, exactly. A day is a UTC calendar day; it is part of
-- the key, so that late units cannot move to the next one. Always used + outstanding <=
-- daily_limit, except for usage that gateways report afterwards, and after the limit was lowered.
CREATE TABLE quota.days (
    account_id uuid NOT NULL,
    day date NOT NULL,
    used bigint NOT NULL DEFAULT 0 CHECK (used >= 0),
    daily_limit bigint NOT NULL, -- 0: unlimited
    limit_version bigint NOT NULL,
    outstanding bigint NOT NULL DEFAULT 0 CHECK (outstanding >= 0), -- what blocks hold unspent
    PRIMARY KEY (account_id, day)
) WITH (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX days_oldest ON quota.days USING brin (day) WITH (pages_per_range = 32);

-- Units of a day that a replica of rate-limit holds and spends in memory. This database says which
-- day it is: a unit is granted on its own day only.
CREATE TABLE quota.blocks (
    account_id uuid NOT NULL,
    day date NOT NULL,
    block_id uuid NOT NULL,
    holder text NOT NULL, -- host:port of the replica, where others reclaim the block
    granted bigint NOT NULL, -- in all, since the block was made; so is spent, as last reported
    spent bigint NOT NULL CHECK (spent <= granted),
    lost bigint NOT NULL DEFAULT 0, -- counted as used when the lease ended
    lease_until timestamptz, -- null: written off
    PRIMARY KEY (account_id, day, block_id)
) WITH (
    fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX blocks_lease_end ON quota.blocks (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX blocks_oldest ON quota.blocks USING brin (day) WITH (pages_per_range = 32);

-- The ids of usage that gateways reported: requests that they let through while nobody could count
-- them. A gateway reports usage under an id of its own until it hears that it is stored; a repeat,
-- after a lost response or to another replica, counts nothing twice.
CREATE TABLE quota.debts (
    debt_id uuid PRIMARY KEY,
    day date NOT NULL
);
CREATE INDEX debts_oldest ON quota.debts USING brin (day) WITH (pages_per_range = 32);
