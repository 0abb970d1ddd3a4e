-- What deleted accounts left is forgotten after a day.
CREATE INDEX accounts_deleted ON accounts.accounts (deleted_at) WHERE deleted_at IS NOT NULL;
