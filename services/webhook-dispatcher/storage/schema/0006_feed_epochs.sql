-- The epoch that ended at epoch_position: places of it are still good up to there. Until now each
-- epoch was the one before and one.
ALTER TABLE webhooks.feeds ADD COLUMN previous_epoch integer NOT NULL DEFAULT 0;
UPDATE webhooks.feeds SET previous_epoch = epoch - 1;
