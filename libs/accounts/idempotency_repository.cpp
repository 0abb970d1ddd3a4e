#include "accounts/idempotency_repository.hpp"

#include "common/postgres/column.hpp"

namespace tempinbox::accounts {
namespace {

using postgres::column;
using postgres::read_column;

// Returns a row if the caller may proceed: a new key, one past its TTL, or an attempt that ended
// without a response. An attempt in progress holds its key even past a short TTL.
constexpr postgres::statement claim_key{"accounts_claim_idempotency_key", R"(
    INSERT INTO accounts.idempotency_keys AS k
        (account_id, operation_sha256, key, request_sha256, object_id, started_at)
    VALUES ($1, $2, $3, $4, $5, now())
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
    RETURNING object_id)"};

// The same for when no new key may be recorded.
constexpr postgres::statement resume_key{"accounts_resume_idempotency_key", R"(
    UPDATE accounts.idempotency_keys SET started_at = now()
    WHERE account_id = $1 AND operation_sha256 = $2 AND key = $3 AND request_sha256 = $4
        AND status IS NULL AND created_at > now() - make_interval(secs => $5)
        AND (started_at IS NULL OR started_at <= now() - interval '30 seconds')
    RETURNING object_id)"};

constexpr postgres::statement find_key{"accounts_find_idempotency_key", R"(
    SELECT request_sha256 = $4 AS is_same_request, status, location, content_type, answer
    FROM accounts.idempotency_keys
    WHERE account_id = $1 AND operation_sha256 = $2 AND key = $3
        AND (created_at > now() - make_interval(secs => $5)
            OR started_at > now() - interval '30 seconds'))"};

constexpr postgres::statement update_response{"accounts_keep_answer", R"(
    UPDATE accounts.idempotency_keys
    SET status = $5, location = nullif($6, ''), content_type = $7, answer = $8, started_at = NULL
    WHERE account_id = $1 AND operation_sha256 = $2 AND key = $3 AND object_id = $4
        AND status IS NULL)"};

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

constexpr postgres::statement count_otherwise{"accounts_count_answers_sealed_otherwise", R"(
    SELECT count(*) AS count,
        (extract(epoch FROM max(created_at) + make_interval(secs => $2)) * 1000000)::bigint
            AS last_end_micros
    FROM accounts.idempotency_keys
    WHERE answer IS NOT NULL AND split_part(answer, ':', 1) <> $1
        AND created_at > now() - make_interval(secs => $2))"};

constexpr postgres::statement purge_keys{"accounts_forget_idempotency_keys", R"(
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

idempotency_claim claim_in(pqxx::work& tx, const idempotency_key& key,
                           const std::string& request_sha256, uuid object_id, bool is_within_limit,
                           double ttl)
{
    const auto account = key.account.text();
    const auto operation = binary(key.operation_sha256), request = binary(request_sha256);
    const auto claimed = is_within_limit ? tx.exec_prepared(claim_key.name, account, operation,
                                                            key.key, request, object_id.text(), ttl)
                                         : tx.exec_prepared(resume_key.name, account, operation,
                                                            key.key, request, ttl);
    idempotency_claim claim;
    if (!claimed.empty()) {
        claim.what = idempotency_claim::outcome::proceed;
        read_column(claimed[0], "object_id", claim.object_id);
        claim.is_first = claim.object_id == object_id;
        return claim;
    }
    const auto rows = tx.exec_prepared(find_key.name, account, operation, key.key, request, ttl);
    if (!rows.empty())
        return read_claim(rows[0]);
    // Within the limit, the key was purged between the two statements: the next repeat begins anew.
    if (!is_within_limit)
        claim.what = idempotency_claim::outcome::limit_reached;
    return claim;
}

} // namespace

idempotency_repository::idempotency_repository(postgres::pool& db, std::chrono::milliseconds ttl)
    : db_(db),
      ttl_seconds_(std::chrono::duration<double>(ttl).count())
{
    for (const auto& statement : {claim_key, resume_key, find_key, update_response, release_key,
                                  drop_key, count_keys, count_otherwise, purge_keys})
        db_.prepare(statement);
}

awaitable<idempotency_claim> idempotency_repository::claim(idempotency_key key,
                                                           std::string request_sha256,
                                                           uuid object_id, bool is_within_limit)
{
    return db_.transact([key = std::move(key), request = std::move(request_sha256), object_id,
                         is_within_limit, ttl = ttl_seconds_](pqxx::work& tx) {
        return claim_in(tx, key, request, object_id, is_within_limit, ttl);
    });
}

awaitable<void> idempotency_repository::store_response(idempotency_key key, uuid object_id,
                                                       stored_response response)
{
    return db_.transact([key = std::move(key), object_id,
                         response = std::move(response)](pqxx::work& tx) {
        tx.exec_prepared0(update_response.name, key.account.text(), binary(key.operation_sha256),
                          key.key, object_id.text(), response.status, response.location,
                          response.content_type, response.sealed_body);
    });
}

awaitable<void> idempotency_repository::release(idempotency_key key, uuid object_id)
{
    return db_.transact([key = std::move(key), object_id](pqxx::work& tx) {
        tx.exec_prepared0(release_key.name, key.account.text(), binary(key.operation_sha256),
                          key.key, object_id.text());
    });
}

awaitable<void> idempotency_repository::drop(idempotency_key key, uuid object_id)
{
    return db_.transact([key = std::move(key), object_id](pqxx::work& tx) {
        tx.exec_prepared0(drop_key.name, key.account.text(), binary(key.operation_sha256), key.key,
                          object_id.text());
    });
}

awaitable<stored_key_count> idempotency_repository::count(account_id account)
{
    return db_.transact([account, ttl = ttl_seconds_](pqxx::work& tx) {
        const auto row = tx.exec_prepared1(count_keys.name, account.text(), ttl);
        stored_key_count found;
        read_column(row, "count", found.count);
        read_column(row, "first_end_micros", found.first_end);
        return found;
    });
}

awaitable<stored_response_count> idempotency_repository::count_sealed_otherwise(std::string key_id)
{
    return db_.transact([key_id = std::move(key_id), ttl = ttl_seconds_](pqxx::work& tx) {
        const auto row = tx.exec_prepared1(count_otherwise.name, key_id, ttl);
        stored_response_count found;
        read_column(row, "count", found.count);
        read_column(row, "last_end_micros", found.last_end);
        return found;
    });
}

awaitable<int> idempotency_repository::purge()
{
    return db_.transact([ttl = ttl_seconds_](pqxx::work& tx) {
        return static_cast<int>(tx.exec_prepared(purge_keys.name, batch_size, ttl).affected_rows());
    });
}

} // namespace tempinbox::accounts
