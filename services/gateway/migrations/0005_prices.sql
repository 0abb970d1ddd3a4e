-- What a plan costs, in the operator's one currency: an amount, and what it pays for.
ALTER TABLE accounts.plans
    ADD COLUMN price_amount numeric(10, 2) NOT NULL DEFAULT 0 CHECK (price_amount >= 0),
    ADD COLUMN price_period text NOT NULL DEFAULT 'none' CHECK (price_period IN ('none', 'once', 'month'));

UPDATE accounts.plans p SET price_amount = price.amount, price_period = price.period
FROM (VALUES ('starter', 3, 'month'), ('pass7', 2, 'once'), ('pro', 7, 'month'), ('business', 15, 'month'), ('premium', 29, 'month'))
    AS price (plan, amount, period)
WHERE p.plan = price.plan;
