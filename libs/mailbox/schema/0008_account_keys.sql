-- contract of v0.2.0
-- The rows of an account can be copied to another database and deleted here (docs/operations/
-- scaling.md): each names its account, in its key or in what replication identifies it by. Releases
-- before 0.2.0 write rows without one: services are stopped while this runs.
-- It writes a row of bodies anew for each body, though not the messages, which lie beside their
-- rows from 2 KB on, and builds the index of each partition: tens of seconds for a million emails.
-- Bodies that no email has, which wait for their partition to be dropped, go.

-- A body is of one account: a message to inboxes of two has two. The hour comes first, since bodies
-- of one hour are written and deleted together.
ALTER TABLE mailbox.bodies ADD COLUMN account_id uuid;
UPDATE mailbox.bodies AS b SET account_id = e.account_id FROM mailbox.emails AS e
WHERE e.body_hour = b.body_hour AND e.body_id = b.body_id;
DELETE FROM mailbox.bodies WHERE account_id IS NULL;
ALTER TABLE mailbox.bodies ALTER COLUMN account_id SET NOT NULL;
ALTER TABLE mailbox.bodies
    DROP CONSTRAINT bodies_pkey,
    ADD PRIMARY KEY (body_hour, body_id, account_id);
INSERT INTO mailbox.bodies (body_hour, body_id, account_id, raw)
SELECT b.body_hour, b.body_id, e.account_id, b.raw
FROM (SELECT DISTINCT account_id, body_hour, body_id FROM mailbox.emails WHERE is_body_shared) AS e
    JOIN mailbox.bodies AS b ON b.body_hour = e.body_hour AND b.body_id = e.body_id
WHERE b.account_id <> e.account_id;

-- The id comes first: whoever deletes an event knows it alone, and new ones come in order.
ALTER TABLE mailbox.outbox ADD COLUMN account_id uuid;
UPDATE mailbox.outbox
SET account_id = substring(headers FROM 'ce_accountid: ([0-9a-f-]{36})')::uuid;
UPDATE mailbox.outbox AS o SET account_id = i.account_id FROM mailbox.inboxes AS i
WHERE o.account_id IS NULL AND i.inbox_id::text = o.key;
-- Of an inbox that is purged: it is published as well without.
UPDATE mailbox.outbox SET account_id = '00000000-0000-0000-0000-000000000000'
WHERE account_id IS NULL;
ALTER TABLE mailbox.outbox
    ALTER COLUMN account_id SET NOT NULL,
    DROP CONSTRAINT outbox_pkey,
    ADD PRIMARY KEY (event_id, account_id);

-- The key makes an address unique among all accounts. An index of its own would cost every inbox;
-- this costs nothing but the older row in the WAL of whoever replicates logically.
ALTER TABLE mailbox.addresses REPLICA IDENTITY FULL;

-- Replaced by mailbox.read_bodies.
DROP FUNCTION IF EXISTS mailbox.find_bodies(timestamptz[], uuid[]);
