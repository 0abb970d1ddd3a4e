#include "webhook-dispatcher/endpoints/secret_store.hpp"

#include "webhook-dispatcher/endpoints/endpoint_store.hpp"
#include "webhook-dispatcher/routing/config_store.hpp"

#include "common/postgres/parameters.hpp"

namespace tempinbox::webhooks {
namespace {

// With the present one that is four signatures: a header that receivers still read.
constexpr int max_previous_secrets = 3;

const std::string find_sql =
    std::string("SELECT ") + endpoint_columns +
    " FROM webhooks.endpoints WHERE account_id = $1::uuid AND webhook_id = $2::uuid";

const std::string rotate_sql = std::string(R"(
UPDATE webhooks.endpoints SET sealed_secret = $3, rotation_id = $4::uuid
WHERE account_id = $1::uuid AND webhook_id = $2::uuid RETURNING )") +
                               endpoint_columns;

constexpr postgres::statement purge_ended{"secrets_forget_ended", R"(
DELETE FROM webhooks.previous_secrets WHERE account_id = $1::uuid AND webhook_id = $2::uuid AND valid_until <= clock_timestamp())"};

constexpr postgres::statement count_previous{"secrets_count_previous", R"(
SELECT count(*), (extract(epoch FROM min(valid_until)) * 1000000)::bigint
FROM webhooks.previous_secrets WHERE account_id = $1::uuid AND webhook_id = $2::uuid)"};

// Copies the present secret in SQL: it may just have been sealed anew.
constexpr postgres::statement keep_present{"secrets_keep_present", R"(
WITH present AS (
    SELECT account_id, webhook_id, sealed_secret FROM webhooks.endpoints
    WHERE account_id = $1::uuid AND webhook_id = $2::uuid FOR UPDATE)
INSERT INTO webhooks.previous_secrets (account_id, webhook_id, rotation_id, sealed_secret, valid_until)
SELECT account_id, webhook_id, $3::uuid, sealed_secret, clock_timestamp() + interval '24 hours' FROM present)"};

constexpr postgres::statement count_by_key{"secrets_count_by_key", R"(
SELECT split_part(sealed_secret, ':', 1), count(*)
FROM (SELECT sealed_secret FROM webhooks.endpoints UNION ALL SELECT sealed_secret FROM webhooks.previous_secrets) s
GROUP BY 1 ORDER BY 1)"};

constexpr postgres::statement find_otherwise{"secrets_find_otherwise", R"(
(SELECT account_id, webhook_id, '00000000-0000-0000-0000-000000000000'::uuid AS replaced_by, sealed_secret FROM webhooks.endpoints
 WHERE (account_id, webhook_id, '00000000-0000-0000-0000-000000000000'::uuid) > ($2::uuid, $3::uuid, $4::uuid)
   AND (account_id, webhook_id) >= ($2::uuid, $3::uuid) AND split_part(sealed_secret, ':', 1) <> $1
 ORDER BY account_id, webhook_id LIMIT $5)
UNION ALL
(SELECT account_id, webhook_id, rotation_id, sealed_secret FROM webhooks.previous_secrets
 WHERE (account_id, webhook_id, rotation_id) > ($2::uuid, $3::uuid, $4::uuid) AND split_part(sealed_secret, ':', 1) <> $1
 ORDER BY account_id, webhook_id, rotation_id LIMIT $5)
ORDER BY account_id, webhook_id, replaced_by LIMIT $5)"};

constexpr postgres::statement reseal_batch{"secrets_reseal", R"(
WITH given AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[])
        AS g(account_id, webhook_id, replaced_by, before, sealed)
), present AS (
    UPDATE webhooks.endpoints e SET sealed_secret = g.sealed FROM given g
    WHERE e.account_id = g.account_id AND e.webhook_id = g.webhook_id AND e.sealed_secret = g.before RETURNING 1
), previous AS (
    UPDATE webhooks.previous_secrets p SET sealed_secret = g.sealed FROM given g
    WHERE p.account_id = g.account_id AND p.webhook_id = g.webhook_id AND p.rotation_id = g.replaced_by
      AND p.sealed_secret = g.before RETURNING 1
)
SELECT (SELECT count(*) FROM present) + (SELECT count(*) FROM previous))"};

failure too_many_secrets(webhook_id id, int previous, time_point first_end)
{
    return failure{errc::conflict, "Webhook " + id.text() + " signs with " +
                                       std::to_string(previous + 1) +
                                       " secrets already; it can be rotated again at " +
                                       to_iso8601(first_end) + ", when the oldest of them ends"};
}

result<endpoint> rotate_in(pqxx::work& tx, account_id account, webhook_id id, uuid rotation,
                           const std::string& sealed)
{
    if (!begin_config_change_if_any(tx, account))
        return no_such_webhook(id);
    const auto rows = tx.exec_prepared("secrets_find_endpoint", account.text(), id.text());
    if (rows.empty())
        return no_such_webhook(id);
    auto present = read_endpoint(rows[0]);
    if (present.rotation == rotation)
        return present;
    tx.exec_prepared0(purge_ended.name, account.text(), id.text());
    const auto previous = tx.exec_prepared1(count_previous.name, account.text(), id.text());
    if (const int number = previous[0].as<int>(); number >= max_previous_secrets)
        return too_many_secrets(id, number, from_unix_micros(previous[1].as<std::int64_t>()));
    tx.exec_prepared0(keep_present.name, account.text(), id.text(), rotation.text());
    return read_endpoint(
        tx.exec_prepared1("secrets_rotate", account.text(), id.text(), sealed, rotation.text()));
}

sealed_secret read_sealed(const pqxx::row& row)
{
    sealed_secret read;
    read.position.account = account_id::parse(row[0].as<std::string>()).value();
    read.position.webhook = webhook_id::parse(row[1].as<std::string>()).value();
    read.position.replaced_by = uuid::parse(row[2].as<std::string>()).value();
    read.sealed = row[3].as<std::string>();
    return read;
}

} // namespace

secret_store::secret_store(postgres::pool& db) : db_(db)
{
    db_.prepare({"secrets_find_endpoint", find_sql.c_str()});
    db_.prepare({"secrets_rotate", rotate_sql.c_str()});
    for (const auto& statement :
         {purge_ended, count_previous, keep_present, count_by_key, find_otherwise, reseal_batch})
        db_.prepare(statement);
}

awaitable<result<endpoint>> secret_store::rotate(account_id account, webhook_id id, uuid rotation,
                                                 std::string sealed)
{
    return db_.transact([account, id, rotation, sealed = std::move(sealed)](pqxx::work& tx) {
        return rotate_in(tx, account, id, rotation, sealed);
    });
}

awaitable<std::vector<secret_count>> secret_store::count()
{
    return db_.transact([](pqxx::work& tx) {
        std::vector<secret_count> counts;
        for (const auto& row : tx.exec_prepared(count_by_key.name)) {
            secret_count read;
            read.key_id = row[0].as<std::string>();
            read.secrets = row[1].as<std::int64_t>();
            counts.push_back(std::move(read));
        }
        return counts;
    });
}

awaitable<std::vector<sealed_secret>>
secret_store::find_sealed_otherwise(std::string key_id, secret_position after, int limit)
{
    return db_.transact([key_id = std::move(key_id), after, limit](pqxx::work& tx) {
        std::vector<sealed_secret> found;
        for (const auto& row :
             tx.exec_prepared(find_otherwise.name, key_id, after.account.text(),
                              after.webhook.text(), after.replaced_by.text(), limit))
            found.push_back(read_sealed(row));
        return found;
    });
}

awaitable<int> secret_store::reseal(std::vector<resealed_secret> secrets)
{
    std::vector<std::string> accounts, webhooks, rotations, before, sealed;
    for (const auto& entry : secrets) {
        accounts.push_back(entry.before.position.account.text());
        webhooks.push_back(entry.before.position.webhook.text());
        rotations.push_back(entry.before.position.replaced_by.text());
        before.push_back(entry.before.sealed);
        sealed.push_back(entry.sealed);
    }
    return db_.transact(
        [accounts = postgres::text_array(accounts), webhooks = postgres::text_array(webhooks),
         rotations = postgres::text_array(rotations), before = postgres::text_array(before),
         sealed = postgres::text_array(sealed)](pqxx::work& tx) {
            return tx
                .exec_prepared1(reseal_batch.name, accounts, webhooks, rotations, before, sealed)[0]
                .as<int>();
        });
}

} // namespace tempinbox::webhooks
