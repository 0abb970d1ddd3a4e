-- Requests that gateways let through while nobody could count them. A gateway tells them under an id of its own until it hears that they are stored; a
-- repeat, after a lost answer or to another replica, counts nothing twice.
CREATE TABLE quota.debts (
    debt_id uuid PRIMARY KEY,
    day date NOT NULL
);
CREATE INDEX debts_oldest ON quota.debts USING brin (day) WITH (pages_per_range = 32);

-- Adds what is new to the used units of the day, whatever the limit says. Rows are locked in the order given: by account, the same for everyone.
CREATE FUNCTION quota.store_debts(debt uuid[], account uuid[], units bigint[], new_limit bigint[], new_version bigint[], on_day date)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. cardinality(debt) LOOP
        INSERT INTO quota.debts (debt_id, day) VALUES (debt[i], on_day) ON CONFLICT DO NOTHING;
        IF FOUND THEN
            INSERT INTO quota.days AS t (account_id, day, used, daily_limit, limit_version)
            VALUES (account[i], on_day, units[i], new_limit[i], new_version[i])
            ON CONFLICT (account_id, day) DO UPDATE SET used = t.used + excluded.used;
        END IF;
    END LOOP;
END
$$;
