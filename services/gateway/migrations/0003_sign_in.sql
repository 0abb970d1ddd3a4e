-- People who sign in to the dashboard: one password an account. An account without a row is used by its keys alone.
CREATE TABLE accounts.users (
    account_id uuid PRIMARY KEY REFERENCES accounts.accounts,
    password_hash text NOT NULL, -- argon2id, with its parameters and salt
    changed_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE accounts.sessions (
    session_sha256 bytea PRIMARY KEY, -- of what the browser holds
    account_id uuid NOT NULL REFERENCES accounts.accounts,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
);
CREATE INDEX sessions_account ON accounts.sessions (account_id);
CREATE INDEX sessions_expiry ON accounts.sessions (expires_at);

-- Attempts that failed or are under way, by whom they are counted for: an address, or an account's email address.
CREATE TABLE accounts.attempts (
    subject_sha256 bytea NOT NULL,
    attempt_id uuid NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (subject_sha256, attempt_id)
);
CREATE INDEX attempts_age ON accounts.attempts (at);

-- One-time links that set a password; a new one replaces an account's older one.
CREATE TABLE accounts.password_resets (
    account_id uuid PRIMARY KEY REFERENCES accounts.accounts,
    token_sha256 bytea NOT NULL UNIQUE,
    expires_at timestamptz NOT NULL
);
CREATE INDEX password_resets_expiry ON accounts.password_resets (expires_at);

-- Sign-ups that wait for the code that was mailed to them.
CREATE TABLE accounts.sign_ups (
    email text PRIMARY KEY, -- lower case
    code_sha256 bytea NOT NULL,
    wrong_codes integer NOT NULL DEFAULT 0,
    expires_at timestamptz NOT NULL
);
CREATE INDEX sign_ups_expiry ON accounts.sign_ups (expires_at);
