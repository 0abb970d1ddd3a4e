-- The server that gives positions: its system identifier, its timeline, and the table of the feeds.
-- Another one says that the database may be that of an earlier moment, or a standby's without the
-- last commits: a restore to a moment begins a timeline, a dump that is loaded makes the table anew.
-- A WAL file's name begins with the timeline.
CREATE OR REPLACE FUNCTION webhooks.feed_server() RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT c.system_identifier || '-' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
        || '-' || 'webhooks.feeds'::regclass::oid FROM pg_control_system() AS c);
END
$$;
