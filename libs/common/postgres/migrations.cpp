#include "common/postgres/migrations.hpp"

#include "common/core/encoding.hpp"
#include "common/crypto/digest.hpp"
#include "common/postgres/error_kind.hpp"
#include "common/postgres/pool.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <thread>

namespace tempinbox::postgres {
namespace {

constexpr const char* create_table = R"(
CREATE TABLE IF NOT EXISTS public.tempinbox_migrations (
    schema text NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (schema, version)
))";

// Advisory locks belong to one database; every schema uses the same number, since CREATE TABLE
// above is shared. The lock is polled: a statement that waits for it would hold a snapshot, and
// CREATE INDEX CONCURRENTLY in the process that has the lock would wait for that snapshot in turn.
constexpr const char* try_lock = "SELECT pg_try_advisory_lock(hashtext('tempinbox_migrations'))";
constexpr const char* unlock = "SELECT pg_advisory_unlock(hashtext('tempinbox_migrations'))";

std::string checksum(const migration& one)
{
    return to_hex(crypto::sha256(one.sql));
}

// `0001_mailbox.sql`
std::optional<migration> read_name(std::string_view file)
{
    constexpr std::size_t digits = 4;
    constexpr std::string_view ending = ".sql";
    if (file.size() <= digits + 1 + ending.size() || file[digits] != '_' || !file.ends_with(ending))
        return std::nullopt;
    migration named;
    const auto [end, error] = std::from_chars(file.data(), file.data() + digits, named.version);
    if (error != std::errc{} || end != file.data() + digits)
        return std::nullopt;
    named.name = file.substr(digits + 1, file.size() - digits - 1 - ending.size());
    return named;
}

void note_applied(pqxx::transaction_base& tx, const std::string& schema, const migration& one)
{
    tx.exec_params0("INSERT INTO public.tempinbox_migrations (schema, version, name, checksum) "
                    "VALUES ($1, $2, $3, $4)",
                    schema, one.version, one.name, checksum(one));
}

void set_lock_timeout(pqxx::connection_base& db, std::chrono::milliseconds timeout)
{
    pqxx::nontransaction(db).exec("SET lock_timeout = " + std::to_string(timeout.count()));
}

void apply_in_transaction(pqxx::connection_base& db, const std::string& schema,
                          const migration& one)
{
    pqxx::work tx(db, "migration");
    tx.exec(one.sql);
    note_applied(tx, schema, one);
    tx.commit();
}

// Several statements sent together would form a transaction.
void apply_one_by_one(pqxx::connection_base& db, const std::string& schema, const migration& one)
{
    for (std::size_t start = 0; start < one.sql.size();) {
        const auto mark = one.sql.find(";\n", start);
        const auto end = mark == std::string::npos ? one.sql.size() : mark + 1;
        const auto statement = one.sql.substr(start, end - start);
        if (statement.find_first_not_of(" \t\r\n") != std::string::npos)
            pqxx::nontransaction(db).exec(statement);
        start = end;
    }
    pqxx::work tx(db, "migration");
    note_applied(tx, schema, one);
    tx.commit();
}

// lock_not_available: another session holds the lock, and by now others queue behind this attempt.
bool is_lock_timeout(const pqxx::sql_error& error)
{
    return error.sqlstate() == "55P03";
}

void apply(pqxx::connection_base& db, const std::string& schema, const migration& one,
           const lock_retries& retries)
{
    if (one.sql.starts_with(outside_a_transaction)) {
        // A concurrent build waits for older transactions to end, and nobody queues behind it.
        set_lock_timeout(db, std::chrono::milliseconds(0));
        apply_one_by_one(db, schema, one);
        return;
    }
    set_lock_timeout(db, retries.timeout);
    for (int tries_left = retries.tries;; --tries_left) {
        try {
            apply_in_transaction(db, schema, one);
            return;
        } catch (const pqxx::sql_error& error) {
            if (!is_lock_timeout(error) || tries_left <= 1)
                throw;
        }
        std::this_thread::sleep_for(retries.delay);
    }
}

void take_lock(pqxx::connection_base& db)
{
    constexpr std::chrono::milliseconds retry_interval{200};
    while (!pqxx::nontransaction(db).exec1(try_lock)[0].as<bool>())
        std::this_thread::sleep_for(retry_interval);
}

result<std::vector<int>> apply_missing(pqxx::connection_base& db, const std::string& schema,
                                       const std::vector<migration>& migrations,
                                       const lock_retries& retries)
{
    std::map<int, std::string> done;
    {
        pqxx::nontransaction tx(db);
        tx.exec(create_table);
        tx.exec("CREATE SCHEMA IF NOT EXISTS " + tx.quote_name(schema));
        for (const auto row : tx.exec_params(
                 "SELECT version, checksum FROM public.tempinbox_migrations WHERE schema = $1",
                 schema))
            done.emplace(row[0].as<int>(), row[1].as<std::string>());
    }

    std::vector<int> applied;
    for (const auto& one : migrations) {
        const auto label =
            "migration " + std::to_string(one.version) + " (" + one.name + ") of schema " + schema;
        if (const auto before = done.find(one.version); before != done.end()) {
            if (before->second != checksum(one))
                return failure{errc::conflict, label + " was altered after it had been applied"};
            continue;
        }
        try {
            apply(db, schema, one, retries);
        } catch (const pqxx::failure&) {
            return failure{errc::internal, label + " failed: " + text_of(std::current_exception())};
        }
        applied.push_back(one.version);
    }
    return applied;
}

} // namespace

result<std::vector<migration>> read_migrations(std::span<const embedded_file> files,
                                               std::string_view folder)
{
    std::vector<migration> found;
    for (const auto& file : files) {
        if (!file.path.starts_with(folder))
            continue;
        const auto name = file.path.substr(folder.size());
        auto one = read_name(name);
        if (!one)
            return failure{errc::invalid_argument,
                           "migration " + std::string(file.path) + " is not called NNNN_name.sql"};
        one->sql = file.content;
        found.push_back(std::move(*one));
    }
    std::sort(found.begin(), found.end(),
              [](const migration& a, const migration& b) { return a.version < b.version; });
    for (std::size_t i = 0; i < found.size(); ++i)
        if (found[i].version != static_cast<int>(i) + 1)
            return failure{errc::invalid_argument, "migrations in " + std::string(folder) +
                                                       " must be numbered 1, 2, 3 …: found " +
                                                       std::to_string(found[i].version) +
                                                       " in place " + std::to_string(i + 1)};
    return found;
}

result<std::vector<int>> migrate(const std::string& dsn, const std::string& schema,
                                 const std::vector<migration>& migrations,
                                 const lock_retries& retries)
{
    settings chosen;
    chosen.dsn = dsn;
    chosen.statement_timeout = chosen.lock_timeout = std::chrono::milliseconds(0);
    try {
        connection db(chosen, "tempinbox-migrate");
        take_lock(db.raw());
        auto applied = apply_missing(db.raw(), schema, migrations, retries);
        pqxx::nontransaction(db.raw()).exec(unlock);
        return applied;
    } catch (const pqxx::broken_connection&) {
        return failure{errc::unavailable, "database: " + text_of(std::current_exception())};
    } catch (const pqxx::failure&) {
        return failure{errc::internal,
                       "schema " + schema + ": " + text_of(std::current_exception())};
    }
}

} // namespace tempinbox::postgres
