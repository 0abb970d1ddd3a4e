-- What an API key may do. A key without any of these may do everything.
-- The key_sha256 of a restricted one is not the digest of its text but a digest of that digest
-- (key_repository.cpp): a release that does not know restrictions does not find the key.
ALTER TABLE accounts.api_keys
    ADD COLUMN scopes text[], -- names; NULL: all that the tag leaves
    ADD COLUMN tag text, -- the key sees and makes inboxes with this tag alone
    ADD COLUMN expires_at timestamptz,
    -- Whether an Idempotency-Key of the key is its own. Those of keys from before stay their
    -- account's: a request that is repeated during an upgrade finds its response.
    ADD COLUMN has_own_responses boolean NOT NULL DEFAULT false;
