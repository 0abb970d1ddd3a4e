-- How many inboxes of a plan have a login, and how many subdomains an account may hold.
ALTER TABLE accounts.plans
    ADD COLUMN captures integer NOT NULL DEFAULT 0,
    ADD COLUMN catch_alls integer NOT NULL DEFAULT 0;
UPDATE accounts.plans AS p SET captures = n.captures, catch_alls = n.catch_alls
FROM (VALUES
    ('free', 1, 0),
    ('starter', 1, 0),
    ('pass7', 2, 1),
    ('pro', 5, 1),
    ('business', 20, 5),
    ('premium', 100, 20)
) AS n (plan, captures, catch_alls)
WHERE p.plan = n.plan;

-- New columns come last.
CREATE OR REPLACE VIEW accounts.states AS
SELECT a.account_id, a.email, a.plan, a.version, a.deleted_at IS NOT NULL AS is_deleted,
    (extract(epoch FROM a.created_at) * 1000000)::bigint AS created_micros,
    (extract(epoch FROM a.plan_ends_at) * 1000000)::bigint AS plan_ends_micros,
    p.api_access, p.requests_per_day, p.burst_per_second, p.live_inboxes, p.default_ttl_seconds,
    p.max_ttl_seconds, p.max_message_bytes, p.webhooks, p.api_keys, p.routing_rules,
    f.api_access AS free_api_access, f.requests_per_day AS free_requests_per_day,
    f.burst_per_second AS free_burst_per_second, f.live_inboxes AS free_live_inboxes,
    f.default_ttl_seconds AS free_default_ttl_seconds, f.max_ttl_seconds AS free_max_ttl_seconds,
    f.max_message_bytes AS free_max_message_bytes, f.webhooks AS free_webhooks,
    f.api_keys AS free_api_keys, f.routing_rules AS free_routing_rules,
    p.captures, p.catch_alls, f.captures AS free_captures, f.catch_alls AS free_catch_alls
FROM accounts.accounts a
JOIN accounts.plans p ON p.plan = a.plan
JOIN accounts.plans f ON f.plan = 'free';
