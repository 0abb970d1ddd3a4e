-- How many units a block has at most: 2 % of the limit and a quarter of what is left, single units
-- near the limit, never more than 1,000.
CREATE OR REPLACE FUNCTION quota.block_size(daily_limit bigint, units_left bigint)
RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT greatest(1, least(daily_limit / 50, units_left / 4, 1000))
$$;
