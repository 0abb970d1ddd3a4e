#include "accounts/idempotency_repository.hpp"

#include "common/postgres/binary_array.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/session.hpp"
#include "common/postgres/transact_each.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <type_traits>

namespace tempinbox::accounts {
namespace {

using postgres::column;
using postgres::read_column;

// Returns the keys whose callers may proceed: a new key, one past its TTL, or an attempt that ended
// without a response. An attempt in progress holds its key even past a short TTL. In the order of
// the keys, so that two transactions cannot deadlock.
constexpr postgres::statement claim_keys{"accounts_claim_idempotency_keys", R"(
    INSERT INTO accounts.idempotency_keys AS k
        (account_id, operation_sha256, key, request_sha256, object_id, started_at)
    SELECT new_key.account_id, new_key.operation_sha256, new_key.key, new_key.request_sha256,
           new_key.object_id, now()
    FROM unnest($1::uuid[], $2::bytea[], $3::text[], $4::bytea[], $5::uuid[])
             AS new_key (account_id, operation_sha256, key, request_sha256, object_id)
    ORDER BY new_key.account_id, new_key.operation_sha256, new_key.key
    ON CONFLICT (account_id, operation_sha256, key) DO UPDATE
    SET request_sha256 = excluded.request_sha256, started_at = now(),
        status = NULL, location = NULL, content_type = NULL, answer = NULL,
        object_id = CASE WHEN k.created_at <= now() - make_interval(secs => $6)
            THEN excluded.object_id ELSE k.object_id END,
        created_at = CASE WHEN k.created_at <= now() - make_interval(secs => $6)
            THEN now() ELSE k.created_at END
    WHERE (k.created_at <= now() - make_interval(secs => $6)
            OR (k.status IS NULL AND k.request_sha256 = excluded.request_sha256))
        AND (k.started_at IS NULL OR k.started_at <= now() - interval '30 seconds')
    RETURNING account_id, operation_sha256, key, object_id)"};

// The same for when no new key may be recorded.
constexpr postgres::statement resume_key{"accounts_resume_idempotency_key", R"(
    UPDATE accounts.idempotency_keys SET started_at = now()
    WHERE account_id = $1 AND operation_sha256 = $2 AND key = $3 AND request_sha256 = $4
        AND status IS NULL AND created_at > now() - make_interval(secs => $5)
        AND (started_at IS NULL OR started_at <= now() - interval '30 seconds')
    RETURNING object_id)"};

// Looks up each key by itself, whatever the planner thinks of joins.
constexpr postgres::statement find_keys{"accounts_find_idempotency_keys", R"(
    SELECT requested.ordinal, k.request_sha256 = requested.request_sha256 AS is_same_request, k.status,
           k.location, k.content_type, k.answer
    FROM unnest($1::uuid[], $2::bytea[], $3::text[], $4::bytea[]) WITH ORDINALITY
             AS requested (account_id, operation_sha256, key, request_sha256, ordinal),
        LATERAL (SELECT * FROM accounts.idempotency_keys AS stored
                 WHERE stored.account_id = requested.account_id
                     AND stored.operation_sha256 = requested.operation_sha256
                     AND stored.key = requested.key
                     AND (stored.created_at > now() - make_interval(secs => $5)
                         OR stored.started_at > now() - interval '30 seconds')
                 OFFSET 0) AS k)"};

constexpr postgres::statement update_responses{"accounts_store_responses", R"(
    UPDATE accounts.idempotency_keys AS k
    SET status = response.status, location = nullif(response.location, ''),
        content_type = response.content_type, answer = response.answer, started_at = NULL
    FROM (SELECT * FROM unnest($1::uuid[], $2::bytea[], $3::text[], $4::uuid[], $5::integer[],
                               $6::text[], $7::text[], $8::text[])
             AS each (account_id, operation_sha256, key, object_id, status, location,
                      content_type, answer)
          ORDER BY each.account_id, each.operation_sha256, each.key) AS response
    WHERE k.account_id = response.account_id AND k.operation_sha256 = response.operation_sha256
        AND k.key = response.key AND k.object_id = response.object_id AND k.status IS NULL)"};

constexpr postgres::statement release_key{"accounts_release_idempotency_key", R"(
    UPDATE accounts.idempotency_keys SET started_at = NULL
    WHERE account_id = $1 AND operation_sha256 = $2 AND key = $3 AND object_id = $4
        AND status IS NULL)"};

constexpr postgres::statement drop_key{"accounts_drop_idempotency_key", R"(
    DELETE FROM accounts.idempotency_keys
    WHERE account_id = $1 AND operation_sha256 = $2 AND key = $3 AND object_id = $4
        AND status IS NULL)"};

// Served by the primary key, which begins with the account.
constexpr postgres::statement count_keys{"accounts_count_idempotency_keys", R"(
    SELECT count(*) AS count,
        (extract(epoch FROM min(created_at) + make_interval(secs => $2)) * 1000000)::bigint
            AS first_end_micros
    FROM accounts.idempotency_keys
    WHERE account_id = $1 AND created_at > now() - make_interval(secs => $2))"};

constexpr postgres::statement count_otherwise{"accounts_count_responses_sealed_otherwise", R"(
    SELECT count(*) AS count,
        (extract(epoch FROM max(created_at) + make_interval(secs => $2)) * 1000000)::bigint
            AS last_end_micros
    FROM accounts.idempotency_keys
    WHERE answer IS NOT NULL AND split_part(answer, ':', 1) <> $1
        AND created_at > now() - make_interval(secs => $2))"};

constexpr postgres::statement purge_keys{"accounts_purge_idempotency_keys", R"(
    DELETE FROM accounts.idempotency_keys AS k
    USING (SELECT account_id, operation_sha256, key FROM accounts.idempotency_keys
           WHERE created_at <= now() - make_interval(secs => $2)
               AND (started_at IS NULL OR started_at <= now() - interval '30 seconds')
           ORDER BY created_at LIMIT $1 FOR UPDATE SKIP LOCKED) AS old
    WHERE k.account_id = old.account_id AND k.operation_sha256 = old.operation_sha256
        AND k.key = old.key)"};

pqxx::binarystring binary(const std::string& bytes)
{
    return pqxx::binarystring(bytes.data(), bytes.size());
}

idempotency_claim read_claim(const pqxx::row& row)
{
    idempotency_claim claim;
    if (!column<bool>(row, "is_same_request")) {
        claim.what = idempotency_claim::outcome::other_request;
    } else if (const auto status = column<std::optional<int>>(row, "status")) {
        using text = std::optional<std::string>;
        claim.what = idempotency_claim::outcome::replay;
        claim.response.status = *status;
        claim.response.location = column<text>(row, "location").value_or("");
        claim.response.content_type = column<text>(row, "content_type").value_or("");
        claim.response.sealed_body = column<text>(row, "answer").value_or("");
    }
    return claim;
}

using key_order = std::tuple<account_id, std::string, std::string>;

key_order order_of(const idempotency_key& key)
{
    return {key.account, key.operation_sha256, key.key};
}

// The keys of requests as parameters: accounts, operations, keys, requests.
struct key_columns
{
    std::vector<account_id> accounts;
    std::vector<postgres::bytea> operations;
    std::vector<std::string> keys;
    std::vector<postgres::bytea> requests;
    std::vector<uuid> objects;

    void add(const claim_request& request)
    {
        accounts.push_back(request.key.account);
        operations.push_back({request.key.operation_sha256});
        keys.push_back(request.key.key);
        requests.push_back({request.request_sha256});
        objects.push_back(request.object_id);
    }
};

// Claims keys of which no two are equal.
void claim_new(pqxx::work& tx, const std::vector<claim_request>& requests,
               const std::vector<std::size_t>& new_keys, double ttl,
               std::vector<idempotency_claim>& claims)
{
    key_columns keys;
    std::map<key_order, std::size_t> index_of;
    for (const auto index : new_keys) {
        keys.add(requests[index]);
        index_of.emplace(order_of(requests[index].key), index);
    }
    using postgres::to_array;
    const auto rows = postgres::exec_prepared(tx, claim_keys.name, to_array(keys.accounts),
                                              to_array(keys.operations), to_array(keys.keys),
                                              to_array(keys.requests), to_array(keys.objects), ttl);
    for (const auto& row : rows) {
        const key_order key(column<account_id>(row, "account_id"),
                            postgres::bytes_of(row["operation_sha256"]),
                            column<std::string>(row, "key"));
        const auto index = index_of.at(key);
        auto& claim = claims[index];
        claim.what = idempotency_claim::outcome::proceed;
        read_column(row, "object_id", claim.object_id);
        claim.is_first = claim.object_id == requests[index].object_id;
    }
}

void resume(pqxx::work& tx, const claim_request& request, double ttl, idempotency_claim& claim)
{
    const auto rows = postgres::exec_prepared(tx, resume_key.name, request.key.account.text(),
                                              binary(request.key.operation_sha256), request.key.key,
                                              binary(request.request_sha256), ttl);
    if (rows.empty())
        return;
    claim.what = idempotency_claim::outcome::proceed;
    read_column(rows[0], "object_id", claim.object_id);
    claim.is_first = claim.object_id == request.object_id;
}

// What became of the others: a response to replay, another request, an attempt in progress.
void find_earlier(pqxx::work& tx, const std::vector<claim_request>& requests, double ttl,
                  std::vector<idempotency_claim>& claims)
{
    key_columns keys;
    std::vector<std::size_t> indexes;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        if (claims[i].what == idempotency_claim::outcome::proceed)
            continue;
        keys.add(requests[i]);
        indexes.push_back(i);
        // Within the limit, a key may have been purged since: the next repeat begins anew.
        if (!requests[i].is_within_limit)
            claims[i].what = idempotency_claim::outcome::limit_reached;
    }
    if (indexes.empty())
        return;
    using postgres::to_array;
    for (const auto& row : postgres::exec_prepared(tx, find_keys.name, to_array(keys.accounts),
                                                   to_array(keys.operations), to_array(keys.keys),
                                                   to_array(keys.requests), ttl))
        claims[indexes.at(column<std::size_t>(row, "ordinal") - 1)] = read_claim(row);
}

std::vector<result<idempotency_claim>>
claim_in(pqxx::work& tx, const std::vector<claim_request>& requests, double ttl)
{
    std::vector<idempotency_claim> claims(requests.size());
    std::vector<std::size_t> first, without_room;
    std::set<key_order> seen;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const auto& request = requests[i];
        if (!request.is_within_limit)
            without_room.push_back(i);
        else if (seen.insert(order_of(request.key)).second)
            first.push_back(i); // of equal keys the first proceeds, the others find it in progress
    }
    // In the order of the keys, as the others.
    std::stable_sort(without_room.begin(), without_room.end(), [&](auto a, auto b) {
        return order_of(requests[a].key) < order_of(requests[b].key);
    });
    for (const auto index : without_room)
        resume(tx, requests[index], ttl, claims[index]);
    if (!first.empty())
        claim_new(tx, requests, first, ttl, claims);
    find_earlier(tx, requests, ttl, claims);
    return {claims.begin(), claims.end()};
}

std::vector<result<void>> store_in(pqxx::work& tx,
                                   const std::vector<response_of_attempt>& responses)
{
    std::vector<account_id> accounts;
    std::vector<postgres::bytea> operations;
    std::vector<std::string> keys, locations, types, bodies;
    std::vector<uuid> objects;
    std::vector<std::int32_t> statuses;
    for (const auto& [key, object, response] : responses) {
        accounts.push_back(key.account);
        operations.push_back({key.operation_sha256});
        keys.push_back(key.key);
        objects.push_back(object);
        statuses.push_back(response.status);
        locations.push_back(response.location);
        types.push_back(response.content_type);
        bodies.push_back(response.sealed_body);
    }
    using postgres::to_array;
    postgres::exec_prepared0(tx, update_responses.name, to_array(accounts), to_array(operations),
                             to_array(keys), to_array(objects), to_array(statuses),
                             to_array(locations), to_array(types), to_array(bodies));
    return std::vector<result<void>>(responses.size());
}

// Of one request alone: an error is thrown.
template <class T>
T value_or_throw(result<T> answer)
{
    if (!answer && answer.error().code == errc::unavailable)
        throw dependency_error(answer.error().message);
    if (!answer)
        throw std::runtime_error(answer.error().message);
    if constexpr (!std::is_void_v<T>)
        return std::move(*answer);
}

} // namespace

idempotency_repository::idempotency_repository(postgres::pool& db, std::chrono::milliseconds ttl)
    : db_(db),
      ttl_seconds_(std::chrono::duration<double>(ttl).count())
{
    for (const auto& statement : {claim_keys, resume_key, find_keys, update_responses, release_key,
                                  drop_key, count_keys, count_otherwise, purge_keys})
        db_.prepare(statement);
}

awaitable<idempotency_claim> idempotency_repository::claim(idempotency_key key,
                                                           std::string request_sha256,
                                                           uuid object_id, bool is_within_limit)
{
    std::vector<claim_request> requests{
        {std::move(key), std::move(request_sha256), object_id, is_within_limit}};
    auto claims = co_await claim_all(std::move(requests));
    co_return value_or_throw(std::move(claims.front()));
}

awaitable<std::vector<result<idempotency_claim>>>
idempotency_repository::claim_all(std::vector<claim_request> requests)
{
    return postgres::transact_each<idempotency_claim>(
        db_, std::move(requests),
        [ttl = ttl_seconds_](pqxx::work& tx, const std::vector<claim_request>& together) {
            return claim_in(tx, together, ttl);
        });
}

awaitable<void> idempotency_repository::store_response(idempotency_key key, uuid object_id,
                                                       stored_response response)
{
    std::vector<response_of_attempt> responses{{std::move(key), object_id, std::move(response)}};
    auto stored = co_await store_responses(std::move(responses));
    value_or_throw(std::move(stored.front()));
}

awaitable<std::vector<result<void>>>
idempotency_repository::store_responses(std::vector<response_of_attempt> responses)
{
    return postgres::transact_each<void>(db_, std::move(responses), store_in);
}

awaitable<void> idempotency_repository::release(idempotency_key key, uuid object_id)
{
    return db_.transact([key = std::move(key), object_id](pqxx::work& tx) {
        postgres::exec_prepared0(tx, release_key.name, key.account.text(),
                                 binary(key.operation_sha256), key.key, object_id.text());
    });
}

awaitable<void> idempotency_repository::drop(idempotency_key key, uuid object_id)
{
    return db_.transact([key = std::move(key), object_id](pqxx::work& tx) {
        postgres::exec_prepared0(tx, drop_key.name, key.account.text(),
                                 binary(key.operation_sha256), key.key, object_id.text());
    });
}

awaitable<stored_key_count> idempotency_repository::count(account_id account)
{
    return db_.transact([account, ttl = ttl_seconds_](pqxx::work& tx) {
        const auto row = postgres::exec_prepared1(tx, count_keys.name, account.text(), ttl);
        stored_key_count counted;
        read_column(row, "count", counted.count);
        read_column(row, "first_end_micros", counted.first_end);
        return counted;
    });
}

awaitable<stored_response_count> idempotency_repository::count_sealed_otherwise(std::string key_id)
{
    return db_.transact([key_id = std::move(key_id), ttl = ttl_seconds_](pqxx::work& tx) {
        const auto row = postgres::exec_prepared1(tx, count_otherwise.name, key_id, ttl);
        stored_response_count counted;
        read_column(row, "count", counted.count);
        read_column(row, "last_end_micros", counted.last_end);
        return counted;
    });
}

awaitable<int> idempotency_repository::purge()
{
    return db_.transact([ttl = ttl_seconds_](pqxx::work& tx) {
        return static_cast<int>(
            postgres::exec_prepared(tx, purge_keys.name, batch_size, ttl).affected_rows());
    });
}

} // namespace tempinbox::accounts
