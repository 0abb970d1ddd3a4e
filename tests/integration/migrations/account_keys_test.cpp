#include "common/postgres/migrations.hpp"
#include "common/testing/await.hpp"
#include "common/testing/scratch_database.hpp"
#include "migrations/schemas.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <string>
#include <vector>

using namespace tempinbox;
using namespace std::chrono_literals;

namespace {

// The tables that stay where they are when accounts move to another database, and why. All others
// name the account of each row in what logical replication identifies it by: the primary key, or
// what REPLICA IDENTITY names.
const std::map<std::string, const char*> global_tables{
    {"accounts.plans", "the operator's, the same in every database"},
    {"accounts.changes", "orders the changes of one database"},
    {"accounts.attempts", "counts by the address of a caller, or by an email address"},
    {"accounts.sign_ups", "people who have no account yet"},
    {"accounts.restores", "of one database"},
    {"accounts.restore_steps", "of one database"},
    {"mailbox.domains", "the operator's, the same in every database"},
    {"mailbox.ingest_runs", "processes"},
    {"mailbox.restore_steps", "of one database"},
    {"mailbox.backfills", "of one database"},
    {"mailbox.capture_changes", "orders the changes of one database"},
    {"mailbox.fault_changes", "orders the changes of one database"},
    {"webhooks.restore_steps", "of one database"},
    {"quota.debts", "ids of reports, each of which is about many accounts"},
};

// The tables whose key is global and does not begin with the account, and why. Of all others the
// account comes first, so that what is read or moved of one account is one range of the index.
const std::map<std::string, const char*> globally_keyed_tables{
    {"accounts.outbox", "events are claimed and deleted by their ids"},
    {"mailbox.addresses", "an address is unique whoever has it"},
    {"mailbox.bodies", "partitions go by the hour, and bodies are deleted by it"},
    {"mailbox.outbox", "events are claimed and deleted by their ids"},
};

std::string list_of_schemas()
{
    std::string list;
    for (const auto schema : migrations::schemas())
        list += (list.empty() ? "'" : ", '") + std::string(schema) + "'";
    return "(" + list + ")";
}

// Tables and partitions, each with the table it belongs to. Partitions count: each is identified by
// itself.
std::string identities_sql()
{
    return R"(
SELECT c.oid::regclass::text AS name,
    coalesce(pg_partition_root(c.oid), c.oid)::regclass::text AS belongs_to,
    EXISTS (SELECT 1 FROM pg_attribute AS a
        WHERE a.attrelid = c.oid AND a.attname = 'account_id' AND NOT a.attisdropped AND (
            c.relreplident = 'f' OR EXISTS (SELECT 1 FROM pg_index AS i
                WHERE i.indrelid = c.oid AND a.attnum = ANY (i.indkey::smallint[])
                    AND CASE c.relreplident WHEN 'd' THEN i.indisprimary ELSE i.indisreplident END)))
        AS names_account,
    EXISTS (SELECT 1 FROM pg_attribute AS a JOIN pg_index AS i ON i.indrelid = a.attrelid
        WHERE a.attrelid = c.oid AND a.attname = 'account_id' AND a.attnum = i.indkey[0]
            AND CASE c.relreplident WHEN 'd' THEN i.indisprimary ELSE i.indisreplident END)
        AS begins_with_account
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND n.nspname IN )" +
           list_of_schemas() + " ORDER BY c.oid::regclass::text";
}

// What an INSERT gives to the columns that must have a value and have none by themselves.
constexpr const char* row_maker = R"(
CREATE FUNCTION public.sample(of_table text, of_column text, of_type text) RETURNS text
LANGUAGE sql AS $$
    SELECT CASE
        WHEN of_table = 'mailbox.addresses' AND of_column = 'state' THEN '''live'''
        WHEN of_table = 'mailbox.rejections' AND of_column = 'reason' THEN '''too_large'''
        WHEN of_table = 'webhooks.deliveries' AND of_column = 'state' THEN '''succeeded'''
        WHEN of_column IN ('event_id', 'email_id') -- of today
            THEN 'overlay(gen_random_uuid()::text PLACING left(webhooks.lowest_uuid(now())::text, 13)'
                 ' FROM 1)::uuid'
        WHEN of_type = 'uuid' THEN 'gen_random_uuid()'
        WHEN of_type = 'text' THEN 'gen_random_uuid()::text'
        WHEN of_type = 'bytea' THEN 'uuid_send(gen_random_uuid())'
        WHEN of_type = 'jsonb' THEN '''[]'''
        WHEN of_type = 'boolean' THEN 'true'
        WHEN of_type IN ('date', 'timestamp with time zone') THEN 'now()'
        WHEN of_type LIKE '%[]' THEN '''{}'''
        ELSE '1' END
$$;
-- Two rows of the account in the table, one if the account is the whole key.
CREATE FUNCTION public.make_rows(of_table text, account uuid) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    columns text;
    samples text;
BEGIN
    SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum),
           string_agg(public.sample(of_table, attname, format_type(atttypid, NULL)), ', '
                      ORDER BY attnum)
        INTO columns, samples
    FROM pg_attribute
    WHERE attrelid = of_table::regclass AND attnum > 0 AND NOT attisdropped AND attnotnull
        AND NOT atthasdef AND attname <> 'account_id';
    FOR n IN 1 .. 2 LOOP
        EXECUTE format('INSERT INTO %s (account_id%s) VALUES (%L%s) ON CONFLICT DO NOTHING',
                       of_table, ', ' || columns, account, ', ' || samples);
    END LOOP;
END
$$)";

// One of 1,024 buckets of accounts.
const std::string in_bucket = "((uuid_hash(account_id) & 1023) = 17)";

// Rows are written and deleted as a mover does it, without triggers and checks of foreign keys.
const std::string without_triggers = "SET session_replication_role = replica; ";

// A bucket on its way from one database to another; its end removes what DROP DATABASE stumbles
// over.
class moving
{
public:
    moving()
    {
        for (const auto& row : from.execute(identities_sql()))
            if (row["names_account"].as<bool>() &&
                row["name"].as<std::string>() == row["belongs_to"].as<std::string>())
                tables.push_back(row["name"].as<std::string>());
        from.execute(row_maker);
        from.execute("SELECT mailbox.ensure_body_hour(now())");
    }
    ~moving()
    {
        if (is_subscribed_)
            try {
                to.execute("DROP SUBSCRIPTION moving"); // with the slot
            } catch (const std::exception& error) {
                WARN(error.what());
            }
    }
    moving(const moving&) = delete;

    // An account that is in the bucket, or is not.
    std::string make_account(bool is_inside)
    {
        return from
            .execute("SELECT account_id FROM (SELECT gen_random_uuid() AS account_id FROM "
                     "generate_series(1, 100000)) AS any_account WHERE " +
                     in_bucket + (is_inside ? "" : " IS FALSE") + " LIMIT 1")[0][0]
            .as<std::string>();
    }

    void make_rows(const std::string& account)
    {
        std::string sql = without_triggers;
        for (const auto& table : tables)
            sql += "SELECT public.make_rows('" + table + "', '" + account + "'); ";
        from.execute(sql);
    }

    void begin()
    {
        std::string list;
        for (const auto& table : tables)
            list += (list.empty() ? "" : ", ") + table + " WHERE " + in_bucket;
        from.execute("CREATE PUBLICATION moving FOR TABLE " + list +
                     " WITH (publish_via_partition_root = true)");
        // Both databases are of one server, where CREATE SUBSCRIPTION would wait for itself.
        slot_ = from.execute("SELECT current_database()")[0][0].as<std::string>();
        from.execute("SELECT pg_create_logical_replication_slot('" + slot_ + "', 'pgoutput')");
        to.execute("CREATE SUBSCRIPTION moving CONNECTION " +
                   pqxx::connection(to.dsn()).quote(from.dsn()) +
                   " PUBLICATION moving WITH (create_slot = false, slot_name = '" + slot_ + "')");
        is_subscribed_ = true;
    }

    bool is_copied()
    {
        return to.execute("SELECT 1 FROM pg_subscription_rel WHERE srsubstate <> 'r'").empty();
    }

    void end()
    {
        to.execute("DROP SUBSCRIPTION moving");
        is_subscribed_ = false;
    }

    // Of rows in a database that fulfil a condition: the number, and a digest of all their columns.
    static std::pair<std::int64_t, std::string> rows(testing::scratch_database& database,
                                                     const std::string& table,
                                                     const std::string& condition)
    {
        const auto found = database.execute(
            "SELECT count(*), coalesce(md5(string_agg(t::text, ',' ORDER BY t::text)), '') FROM " +
            table + " AS t WHERE " + condition);
        return {found[0][0].as<std::int64_t>(), found[0][1].as<std::string>()};
    }

    testing::scratch_database from, to;
    std::vector<std::string> tables;

private:
    std::string slot_;
    bool is_subscribed_ = false;
};

// The files of a schema up to a number.
postgres::schema_files older_files(std::string_view schema, int newest)
{
    auto files = migrations::of_schema(schema);
    std::erase_if(files.migrations, [newest](const auto& each) { return each.version > newest; });
    return files;
}

std::int64_t count(testing::scratch_database& scratch, const std::string& of)
{
    return scratch.execute("SELECT count(*) FROM " + of)[0][0].as<std::int64_t>();
}

} // namespace

TEST_CASE("every table names the account of its rows, but for a few", "[migrations][postgres]")
{
    testing::scratch_database scratch;
    auto unseen = global_tables;
    unseen.insert(globally_keyed_tables.begin(), globally_keyed_tables.end());

    for (const auto& row : scratch.execute(identities_sql())) {
        const auto name = row["name"].as<std::string>();
        const auto belongs_to = row["belongs_to"].as<std::string>();
        const bool is_global = global_tables.contains(belongs_to);
        unseen.erase(belongs_to);
        if (!row["names_account"].as<bool>() && !is_global)
            FAIL_CHECK(name << ": its key has no account_id, so its rows cannot move with their "
                               "account: begin the key with account_id, or, if they are no "
                               "account's, name the table in global_tables and say why");
        if (row["names_account"].as<bool>() && is_global)
            FAIL_CHECK(name << " names the account: take it out of global_tables");

        const bool is_globally_keyed = globally_keyed_tables.contains(belongs_to);
        if (!row["begins_with_account"].as<bool>() && !is_global && !is_globally_keyed)
            FAIL_CHECK(name << ": its key does not begin with account_id: put it first, or name "
                               "the table in globally_keyed_tables and say why");
        if (row["begins_with_account"].as<bool>() && is_globally_keyed)
            FAIL_CHECK(name << " begins its key with the account: take it out of "
                               "globally_keyed_tables");
    }

    for (const auto& [name, reason] : unseen)
        FAIL_CHECK(name << " is no table: take it out of its list");
}

TEST_CASE("the rows of one bucket of accounts move to another database while they are written",
          "[migrations][postgres]")
{
    moving bucket;
    const auto stays = bucket.make_account(true), ends = bucket.make_account(true),
               comes = bucket.make_account(true), other = bucket.make_account(false);
    for (const auto& account : {stays, ends, other})
        bucket.make_rows(account);
    for (const auto& table : bucket.tables) {
        INFO(table);
        REQUIRE(moving::rows(bucket.from, table, "account_id = '" + stays + "'").first > 0);
    }
    std::map<std::string, std::pair<std::int64_t, std::string>> others;
    for (const auto& table : bucket.tables)
        others[table] = moving::rows(bucket.from, table, "NOT " + in_bucket);

    bucket.begin();
    REQUIRE(testing::eventually([&] { return bucket.is_copied(); }, 120s));
    bucket.make_rows(comes);
    for (const auto& table : bucket.tables)
        bucket.from.execute(without_triggers + "UPDATE " + table +
                            " SET account_id = account_id; DELETE FROM " + table +
                            " WHERE account_id = '" + ends + "'");

    for (const auto& table : bucket.tables) {
        INFO(table);
        const auto expected = moving::rows(bucket.from, table, in_bucket);
        CHECK(expected.first >= 2);
        CHECK(testing::eventually(
            [&] { return moving::rows(bucket.to, table, "true") == expected; }, 60s));
    }
    bucket.end();
    for (const auto& table : bucket.tables) {
        INFO(table);
        bucket.from.execute(without_triggers + "DELETE FROM " + table + " WHERE " + in_bucket);
        CHECK(moving::rows(bucket.from, table, "true") == others[table]);
    }
}

TEST_CASE("bodies and events from before get the account of their emails and inboxes",
          "[migrations][postgres]")
{
    testing::scratch_database scratch(std::vector<std::string>{});
    REQUIRE(postgres::migrate(scratch.dsn(), older_files("mailbox", 7)).has_value());
    scratch.execute(R"(
CREATE TABLE given AS SELECT * FROM (VALUES
    ('alone', gen_random_uuid(), gen_random_uuid(), '00000000-0000-7000-8000-000000000001'::uuid),
    ('one of two', gen_random_uuid(), gen_random_uuid(), '00000000-0000-7000-8000-000000000002'),
    ('two of two', gen_random_uuid(), gen_random_uuid(), '00000000-0000-7000-8000-000000000002'))
    AS email (what, account, inbox, body);
INSERT INTO mailbox.bodies (body_hour, body_id, raw)
    SELECT DISTINCT timestamptz '2026-11-28 10:00Z', body, uuid_send(body) FROM given
    UNION ALL SELECT '2026-11-28 10:00Z', gen_random_uuid(), 'of nobody';
INSERT INTO mailbox.inboxes (account_id, inbox_id, email_address, created_at, expires_at)
    SELECT account, inbox, what, now(), now() FROM given;
INSERT INTO mailbox.emails (account_id, email_id, inbox_id, sequence, received_at, from_address,
    from_name, subject, preview, rcpt_to, to_header, mail_from, remote_address, helo, size_bytes,
    attachment_count, codes, links, defects, content_sha256, body_hour, body_id, is_body_shared)
    SELECT account, gen_random_uuid(), inbox, 1, now(), '', '', '', '', '{}', '{}', '', '', '', 1,
        0, '[]', '[]', '{}', '', '2026-11-28 10:00Z', body, what <> 'alone' FROM given;
INSERT INTO mailbox.outbox (event_id, topic, key, sequence, headers, owner, lease_until)
    SELECT gen_random_uuid(), 'email.received', inbox::text, 1, CASE WHEN what = 'alone' THEN ''
        ELSE E'ce_type: email.received\nce_accountid: ' || account || E'\ntraceparent: 00-0-0-0\n'
        END, '', now() FROM given
    UNION ALL SELECT gen_random_uuid(), 'inbox.expired', gen_random_uuid()::text, 1, '', '', now())");

    REQUIRE(postgres::migrate(scratch.dsn(), migrations::of_schema("mailbox")).has_value());

    CHECK(count(scratch, "mailbox.bodies") == 3);
    CHECK(count(scratch, "mailbox.emails AS e JOIN mailbox.bodies AS b USING (account_id, "
                         "body_hour, body_id) WHERE b.raw = uuid_send(b.body_id)") == 3);
    CHECK(count(scratch, "mailbox.outbox AS o JOIN given AS g ON g.inbox::text = o.key AND "
                         "g.account = o.account_id") == 3);
    CHECK(count(scratch, "mailbox.outbox") == 4); // one of an inbox that is purged
}

TEST_CASE("deliveries from before keep their rows, and a deleted account is still purged",
          "[migrations][postgres]")
{
    testing::scratch_database scratch(std::vector<std::string>{});
    REQUIRE(postgres::migrate(scratch.dsn(), older_files("webhooks", 2)).has_value());
    scratch.execute(R"(
CREATE TABLE given AS SELECT gen_random_uuid() AS account, gen_random_uuid() AS webhook,
    webhooks.lowest_uuid(now() + n * interval '1 ms') AS event FROM generate_series(1, 10) AS n;
INSERT INTO webhooks.events (event_id, account_id, type, occurred_at, body)
    SELECT event, account, 'email.received', now(), '' FROM given;
INSERT INTO webhooks.due_deliveries (event_id, webhook_id, account_id, run_at)
    SELECT event, webhook, account, now() FROM given;
INSERT INTO webhooks.deliveries (event_id, webhook_id, account_id, state, attempts, rule_ids,
    created_at) SELECT event, webhook, account, 'succeeded', 1, '{}', now() FROM given;
INSERT INTO webhooks.attempts (event_id, webhook_id, number, lease_id, account_id, at, duration_ms)
    SELECT event, webhook, 1, gen_random_uuid(), account, now(), 1 FROM given;
INSERT INTO webhooks.manual_limits (webhook_id, kind, busy_until)
    SELECT webhook, 'test', now() FROM given;
INSERT INTO webhooks.deleted_accounts (account_id, webhook_ids)
    SELECT account, ARRAY[webhook] FROM given LIMIT 1)");

    REQUIRE(postgres::migrate(scratch.dsn(), migrations::of_schema("webhooks")).has_value());

    for (const auto* table : {"events", "due_deliveries", "deliveries", "attempts"})
        CHECK(count(scratch, "webhooks." + std::string(table) +
                                 " AS t JOIN given AS g ON g.account = t.account_id AND "
                                 "g.event = t.event_id") == 10);
    CHECK(count(scratch, "webhooks.deleted_accounts") == 1);
    CHECK(count(scratch, "webhooks.manual_limits") == 0);
}
