-- What each account used of its daily limit, exactly. A day is a UTC calendar day; it is part of the key, so that late units cannot move to the next one.

CREATE TABLE quota.days (
    account_id uuid NOT NULL,
    day date NOT NULL,
    used bigint NOT NULL DEFAULT 0 CHECK (used >= 0),
    daily_limit bigint NOT NULL, -- 0: unlimited
    limit_version bigint NOT NULL,
    PRIMARY KEY (account_id, day)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX days_oldest ON quota.days USING brin (day) WITH (pages_per_range = 32);
