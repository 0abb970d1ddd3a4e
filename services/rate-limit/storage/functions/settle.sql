-- Syncs blocks with their days: takes over what each holder spent since it last reported (totals,
-- so that a repeat counts nothing twice) and newer limits; then `grow` fills the block up, `close`
-- gives back what is unspent and ends it, `report` leaves it. A limit lowered below what is out
-- cuts the block. Rows are locked in the order given: by account and day, the same for everyone.
-- Rows are found by their keys alone; a plan made while the tables were small would read them from
-- end to end for as long as it is kept.
-- Outcomes: settled; other_day (settled, but nothing was granted: here it is another day); gone
-- (the block is no more, nothing was counted).
CREATE OR REPLACE FUNCTION quota.settle(
    account uuid[], on_day date[], block uuid[], action text[], is_known boolean[],
    total_spent bigint[], new_limit bigint[], new_version bigint[], new_holder text, lease interval)
RETURNS TABLE (
    outcome text, granted bigint, used bigint, held_by_others bigint, daily_limit bigint,
    limit_version bigint, holders text)
LANGUAGE plpgsql SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
    d record;
    b record;
    is_new boolean;
    held bigint;
    units_left bigint;
BEGIN
    FOR i IN 1 .. cardinality(account) LOOP
        -- A block that would only ask for units of another day leaves no row.
        outcome := 'settled';
        IF action[i] = 'grow' AND NOT is_known[i] AND total_spent[i] = 0
           AND quota.today() <> on_day[i] THEN
            outcome := 'other_day';
            granted := 0;
            used := 0;
            held_by_others := 0;
            daily_limit := new_limit[i];
            limit_version := new_version[i];
            holders := NULL;
            RETURN NEXT;
            CONTINUE;
        END IF;

        -- The day, locked, and made where it is missing.
        SELECT t.used, t.outstanding, t.daily_limit, t.limit_version INTO d
        FROM quota.days AS t WHERE t.account_id = account[i] AND t.day = on_day[i] FOR UPDATE;
        IF NOT FOUND THEN
            INSERT INTO quota.days (account_id, day, daily_limit, limit_version)
            VALUES (account[i], on_day[i], new_limit[i], new_version[i]) ON CONFLICT DO NOTHING
            RETURNING used, outstanding, daily_limit, limit_version INTO d;
            IF NOT FOUND THEN
                SELECT t.used, t.outstanding, t.daily_limit, t.limit_version INTO d
                FROM quota.days AS t
                WHERE t.account_id = account[i] AND t.day = on_day[i] FOR UPDATE;
            END IF;
        END IF;

        SELECT t.granted, t.spent, t.lost INTO b
        FROM quota.blocks AS t
        WHERE t.account_id = account[i] AND t.day = on_day[i] AND t.block_id = block[i];
        is_new := NOT FOUND;
        IF is_new AND is_known[i] THEN
            outcome := 'gone';
        ELSE
            -- What the holder spent; what was written off meanwhile was not lost after all.
            IF is_new THEN
                SELECT 0::bigint AS granted, 0::bigint AS spent, 0::bigint AS lost INTO b;
            END IF;
            d.used := d.used - b.lost + (total_spent[i] - b.spent);
            d.outstanding :=
                d.outstanding + b.lost - least(total_spent[i] - b.spent, b.granted - b.spent);
            b.granted := greatest(b.granted, total_spent[i]);
            IF new_version[i] > d.limit_version THEN
                d.daily_limit := new_limit[i];
                d.limit_version := new_version[i];
            END IF;

            -- What the block holds from now on.
            held := b.granted - total_spent[i];
            -- No limit: plans::unlimited_requests_per_day.
            units_left := CASE d.daily_limit WHEN 0 THEN 1000000000000 ELSE d.daily_limit END
                - d.used - d.outstanding;
            IF action[i] = 'close' THEN
                d.outstanding := d.outstanding - held;
                b.granted := total_spent[i];
                DELETE FROM quota.blocks AS t
                WHERE t.account_id = account[i] AND t.day = on_day[i] AND t.block_id = block[i];
            ELSE
                IF units_left < 0 THEN
                    b.granted := b.granted - least(held, -units_left);
                    d.outstanding := d.outstanding - least(held, -units_left);
                ELSIF action[i] = 'grow' AND quota.today() <> on_day[i] THEN
                    outcome := 'other_day';
                ELSIF action[i] = 'grow' THEN
                    held := greatest(0, least(quota.block_size(
                        CASE d.daily_limit WHEN 0 THEN 1000000 ELSE d.daily_limit END, units_left)
                        - held, units_left));
                    b.granted := b.granted + held;
                    d.outstanding := d.outstanding + held;
                END IF;
                INSERT INTO quota.blocks AS t
                    (account_id, day, block_id, holder, granted, spent, lost, lease_until)
                VALUES (account[i], on_day[i], block[i], new_holder, b.granted, total_spent[i], 0,
                        clock_timestamp() + lease)
                ON CONFLICT (account_id, day, block_id) DO UPDATE
                SET granted = excluded.granted, spent = excluded.spent, lost = 0,
                    lease_until = excluded.lease_until;
            END IF;
            UPDATE quota.days AS t
            SET used = d.used, outstanding = d.outstanding, daily_limit = d.daily_limit,
                limit_version = d.limit_version
            WHERE t.account_id = account[i] AND t.day = on_day[i];
        END IF;

        granted := coalesce(b.granted, 0);
        used := d.used;
        held_by_others := d.outstanding
            - (CASE WHEN outcome = 'gone' THEN 0 ELSE b.granted - total_spent[i] END);
        daily_limit := d.daily_limit;
        limit_version := d.limit_version;
        holders := NULL;
        IF held_by_others > 0 THEN
            SELECT string_agg(DISTINCT t.holder, ',') INTO holders FROM quota.blocks AS t
            WHERE t.account_id = account[i] AND t.day = on_day[i] AND t.block_id <> block[i]
              AND t.granted > t.spent AND t.lost = 0;
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;
