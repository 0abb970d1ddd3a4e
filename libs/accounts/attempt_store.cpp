#include "accounts/attempt_store.hpp"

#include "common/crypto/digest.hpp"

#include <algorithm>

namespace tempinbox::accounts {
namespace {

constexpr std::int64_t window_seconds = std::chrono::seconds(attempt_store::window).count();

// Serializes the attempts of one subject.
constexpr postgres::statement lock_subject{
    "attempts_lock", "SELECT pg_advisory_xact_lock(hashtextextended(encode($1::bytea, 'hex'), 0))"};
// How long until an attempt is allowed again: until the oldest of the newest $2 leaves the window.
constexpr postgres::statement judge_subject{
    "attempts_judge",
    "SELECT count(*) >= $2, coalesce(ceil(extract(epoch FROM min(at)) + $3 - extract(epoch FROM "
    "now())), 0)::bigint"
    " FROM (SELECT at FROM accounts.attempts WHERE subject_sha256 = $1"
    " AND at > now() - $3::bigint * interval '1 second' ORDER BY at DESC LIMIT $2) AS newest"};
constexpr postgres::statement insert_attempt{
    "attempts_insert",
    "INSERT INTO accounts.attempts (subject_sha256, attempt_id, at) VALUES ($1, $2, now())"};
constexpr postgres::statement delete_attempt{
    "attempts_delete",
    "DELETE FROM accounts.attempts WHERE subject_sha256 = $1 AND attempt_id = $2"};
constexpr postgres::statement delete_subject{
    "attempts_delete_subject", "DELETE FROM accounts.attempts WHERE subject_sha256 = $1"};
constexpr postgres::statement purge_attempts{"attempts_forget",
                                             "DELETE FROM accounts.attempts WHERE (subject_sha256, "
                                             "attempt_id) IN (SELECT subject_sha256, attempt_id"
                                             " FROM accounts.attempts WHERE at < now() - "
                                             "$2::bigint * interval '1 second' ORDER BY at LIMIT $1"
                                             " FOR UPDATE SKIP LOCKED)"};

attempt_status judge(pqxx::work& tx, const attempt_subject& subject)
{
    attempt_status status;
    const auto row = tx.exec_prepared1(judge_subject.name, pqxx::binarystring(subject.digest),
                                       subject.max_attempts, window_seconds);
    status.is_allowed = !row[0].as<bool>();
    status.retry_after = std::chrono::seconds(std::max<std::int64_t>(1, row[1].as<std::int64_t>()));
    status.subject_digest = subject.digest;
    return status;
}

} // namespace

attempt_subject::attempt_subject(std::string_view kind, std::string_view name, int limit)
    : digest(crypto::sha256(std::string(kind).append("\n").append(name))),
      max_attempts(limit)
{}

attempt_store::attempt_store(postgres::pool& db) : db_(db)
{
    for (const auto& statement : {lock_subject, judge_subject, insert_attempt, delete_attempt,
                                  delete_subject, purge_attempts})
        db_.prepare(statement);
}

awaitable<attempt_status> attempt_store::begin(uuid attempt, std::vector<attempt_subject> subjects)
{
    // Everyone locks in the same order, so that nobody deadlocks.
    std::sort(subjects.begin(), subjects.end(),
              [](const auto& a, const auto& b) { return a.digest < b.digest; });
    return db_.transact([attempt, subjects = std::move(subjects)](pqxx::work& tx) {
        for (const auto& subject : subjects)
            tx.exec_prepared1(lock_subject.name, pqxx::binarystring(subject.digest));
        for (const auto& subject : subjects)
            if (const auto status = judge(tx, subject); !status.is_allowed)
                return status;
        for (const auto& subject : subjects)
            tx.exec_prepared0(insert_attempt.name, pqxx::binarystring(subject.digest),
                              attempt.text());
        return attempt_status();
    });
}

awaitable<void> attempt_store::take_back(uuid attempt, std::vector<attempt_subject> subjects)
{
    return db_.transact([attempt, subjects = std::move(subjects)](pqxx::work& tx) {
        for (const auto& subject : subjects)
            tx.exec_prepared0(delete_attempt.name, pqxx::binarystring(subject.digest),
                              attempt.text());
    });
}

awaitable<void> attempt_store::reset(attempt_subject subject)
{
    return db_.transact([subject](pqxx::work& tx) {
        tx.exec_prepared0(delete_subject.name, pqxx::binarystring(subject.digest));
    });
}

awaitable<int> attempt_store::purge()
{
    return db_.transact([](pqxx::work& tx) {
        return static_cast<int>(
            tx.exec_prepared(purge_attempts.name, batch_size, window_seconds).affected_rows());
    });
}

} // namespace tempinbox::accounts
