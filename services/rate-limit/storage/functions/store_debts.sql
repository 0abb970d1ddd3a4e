-- Adds usage whose id is new to the used units of its day, whatever the limit says. Usage counts
-- for the day the requests came on, which may be over when it is reported. Rows are locked in the
-- order given: by account and day, the same for everyone.
CREATE OR REPLACE FUNCTION quota.store_debts(
    debt uuid[], account uuid[], units bigint[], new_limit bigint[], new_version bigint[],
    on_day date[])
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. cardinality(debt) LOOP
        INSERT INTO quota.debts (debt_id, day) VALUES (debt[i], on_day[i]) ON CONFLICT DO NOTHING;
        IF FOUND THEN
            INSERT INTO quota.days AS t (account_id, day, used, daily_limit, limit_version)
            VALUES (account[i], on_day[i], units[i], new_limit[i], new_version[i])
            ON CONFLICT (account_id, day) DO UPDATE SET used = t.used + excluded.used;
        END IF;
    END LOOP;
END
$$;
