#include "common/postgres/migrations.hpp"

#include "common/core/encoding.hpp"
#include "common/core/exception_text.hpp"
#include "common/crypto/digest.hpp"
#include "common/postgres/column.hpp"
#include "common/postgres/error_kind.hpp"
#include "common/postgres/pool.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <thread>

namespace tempinbox::postgres {
namespace {

constexpr const char* create_migrations_table = R"(
CREATE TABLE IF NOT EXISTS public.tempinbox_migrations (
    schema text NOT NULL,
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (schema, version)
))";

constexpr const char* create_functions_table = R"(
CREATE TABLE IF NOT EXISTS public.tempinbox_functions (
    schema text NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (schema, name)
))";

// Advisory locks belong to one database; every schema uses the same number, since the tables
// above are shared. The lock is polled: a statement that waits for it would hold a snapshot, and
// CREATE INDEX CONCURRENTLY in the process that has the lock would wait for that snapshot in turn.
constexpr const char* try_lock = "SELECT pg_try_advisory_lock(hashtext('tempinbox_migrations'))";
constexpr const char* unlock = "SELECT pg_advisory_unlock(hashtext('tempinbox_migrations'))";

constexpr const char* find_second_signature = R"(
SELECT p.proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname = $1 GROUP BY p.proname HAVING count(*) > 1 ORDER BY p.proname LIMIT 1)";

constexpr std::string_view ending = ".sql";

std::string checksum(const std::string& sql)
{
    return to_hex(crypto::sha256(sql));
}

// `0001_mailbox.sql`
std::optional<migration> read_name(std::string_view file)
{
    constexpr std::size_t digits = 4;
    if (file.size() <= digits + 1 + ending.size() || file[digits] != '_' || !file.ends_with(ending))
        return std::nullopt;
    migration named;
    const auto [end, error] = std::from_chars(file.data(), file.data() + digits, named.version);
    if (error != std::errc{} || end != file.data() + digits)
        return std::nullopt;
    named.name = file.substr(digits + 1, file.size() - digits - 1 - ending.size());
    return named;
}

void note_applied(pqxx::transaction_base& tx, const std::string& schema, const migration& step)
{
    tx.exec_params0("INSERT INTO public.tempinbox_migrations (schema, version, name, checksum) "
                    "VALUES ($1, $2, $3, $4)",
                    schema, step.version, step.name, checksum(step.sql));
}

void set_lock_timeout(pqxx::connection& db, std::chrono::milliseconds timeout)
{
    pqxx::nontransaction(db).exec("SET lock_timeout = " + std::to_string(timeout.count()));
}

void apply_in_transaction(pqxx::connection& db, const std::string& schema, const migration& step)
{
    pqxx::work tx(db, "migration");
    tx.exec(step.sql);
    note_applied(tx, schema, step);
    tx.commit();
}

// Several statements sent together would form a transaction.
void apply_one_by_one(pqxx::connection& db, const std::string& schema, const migration& step)
{
    for (std::size_t start = 0; start < step.sql.size();) {
        const auto mark = step.sql.find(";\n", start);
        const auto end = mark == std::string::npos ? step.sql.size() : mark + 1;
        const auto statement = step.sql.substr(start, end - start);
        if (statement.find_first_not_of(" \t\r\n") != std::string::npos)
            pqxx::nontransaction(db).exec(statement);
        start = end;
    }
    pqxx::work tx(db, "migration");
    note_applied(tx, schema, step);
    tx.commit();
}

// lock_not_available: another session holds the lock, and by now others queue behind this attempt.
bool is_lock_timeout(const pqxx::sql_error& error)
{
    return error.sqlstate() == "55P03";
}

// Runs `attempt`, which is one transaction, until it gets its locks.
template <class Attempt>
void retry_for_locks(pqxx::connection& db, const lock_retries& retries, Attempt attempt)
{
    set_lock_timeout(db, retries.timeout);
    for (int tries_left = retries.tries;; --tries_left) {
        try {
            attempt();
            return;
        } catch (const pqxx::sql_error& error) {
            // Whoever holds the lock may be done by the next attempt.
            if (!is_lock_timeout(error) || tries_left <= 1)
                throw;
        }
        std::this_thread::sleep_for(retries.delay);
    }
}

void apply(pqxx::connection& db, const std::string& schema, const migration& step,
           const lock_retries& retries)
{
    if (step.sql.starts_with(outside_a_transaction)) {
        // A concurrent build waits for older transactions to end, and nobody queues behind it.
        set_lock_timeout(db, std::chrono::milliseconds(0));
        apply_one_by_one(db, schema, step);
        return;
    }
    retry_for_locks(db, retries, [&] { apply_in_transaction(db, schema, step); });
}

void take_lock(pqxx::connection& db)
{
    constexpr std::chrono::milliseconds retry_interval{200};
    while (!pqxx::nontransaction(db).exec1(try_lock)[0].as<bool>())
        std::this_thread::sleep_for(retry_interval);
}

std::string label_of(const std::string& schema, const migration& step)
{
    return "migration " + std::to_string(step.version) + " (" + step.name + ") of schema " + schema;
}

// The checksum of each version applied; empty before the first run.
using history = std::map<int, std::string>;

result<history> read_history(pqxx::connection& db, const schema_files& files)
{
    history done;
    pqxx::nontransaction tx(db);
    if (tx.exec1("SELECT to_regclass('public.tempinbox_migrations')")[0].is_null())
        return done;
    for (const auto row : tx.exec_params(
             "SELECT version, checksum FROM public.tempinbox_migrations WHERE schema = $1",
             files.schema))
        done.emplace(column<int>(row, "version"), column<std::string>(row, "checksum"));

    for (const auto& step : files.migrations) {
        const auto before = done.find(step.version);
        if (before == done.end() || before->second == checksum(step.sql))
            continue;
        if (step.version == 1)
            return failure{errc::conflict,
                           "schema " + files.schema +
                               " of this database was made before its tables were put into one "
                               "file and cannot be brought up to date; nothing was changed. Make "
                               "the database anew: `./dev down --wipe` deletes that of the suite, "
                               "with all it holds"};
        return failure{errc::conflict,
                       label_of(files.schema, step) + " was altered after it had been applied"};
    }
    return done;
}

result<void> apply_migrations(pqxx::connection& db, const schema_files& files, const history& done,
                              bool are_after_functions, const lock_retries& retries,
                              applied_files& applied)
{
    for (const auto& step : files.migrations) {
        if (done.contains(step.version) ||
            step.sql.starts_with(after_the_functions) != are_after_functions)
            continue;
        try {
            apply(db, files.schema, step, retries);
        } catch (const pqxx::failure&) {
            // The program's answer: it names the migration that SQL refused.
            return failure{errc::internal, label_of(files.schema, step) +
                                               " failed: " + text_of(std::current_exception())};
        }
        applied.versions.push_back(step.version);
    }
    return {};
}

std::vector<function_file> list_changed(pqxx::connection& db, const schema_files& files)
{
    std::map<std::string, std::string> done;
    pqxx::nontransaction tx(db);
    if (tx.exec1("SELECT to_regclass('public.tempinbox_functions')")[0].is_null())
        return files.functions;
    for (const auto row :
         tx.exec_params("SELECT name, checksum FROM public.tempinbox_functions WHERE schema = $1",
                        files.schema))
        done.emplace(column<std::string>(row, "name"), column<std::string>(row, "checksum"));
    std::vector<function_file> changed;
    for (const auto& function : files.functions)
        if (const auto before = done.find(function.name);
            before == done.end() || before->second != checksum(function.sql))
            changed.push_back(function);
    return changed;
}

void note_applied(pqxx::transaction_base& tx, const std::string& schema,
                  const function_file& function)
{
    tx.exec_params0("INSERT INTO public.tempinbox_functions (schema, name, checksum) "
                    "VALUES ($1, $2, $3) ON CONFLICT (schema, name) "
                    "DO UPDATE SET checksum = excluded.checksum, applied_at = now()",
                    schema, function.name, checksum(function.sql));
}

// All in one transaction, so that callers see either the old texts or the new ones.
result<void> apply_functions(pqxx::connection& db, const schema_files& files,
                             const lock_retries& retries, applied_files& applied)
{
    const auto changed = list_changed(db, files);
    if (changed.empty())
        return {};
    std::string under_way;
    try {
        retry_for_locks(db, retries, [&] {
            pqxx::work tx(db, "functions");
            tx.exec("SET LOCAL search_path = " + tx.quote_name(files.schema));
            // Functions call each other, so bodies are checked in a second round, when all exist.
            for (const char* are_bodies_checked : {"off", "on"}) {
                tx.exec("SET LOCAL check_function_bodies = " + std::string(are_bodies_checked));
                for (const auto& function : changed) {
                    under_way = function.name;
                    tx.exec(function.sql);
                    for (const auto row : tx.exec_params(find_second_signature, files.schema))
                        throw pqxx::failure("function " + column<std::string>(row, "proname") +
                                            " has two parameter lists: give the new one a new "
                                            "name");
                }
            }
            for (const auto& function : changed)
                note_applied(tx, files.schema, function);
            tx.commit();
        });
    } catch (const pqxx::failure&) {
        // As for a migration: the answer names the function.
        return failure{errc::internal, "functions/" + under_way + ".sql of schema " + files.schema +
                                           " failed: " + text_of(std::current_exception())};
    }
    for (const auto& function : changed)
        applied.functions.push_back(function.name);
    return {};
}

// A release before that of the database must not bring its older texts back.
bool is_newer(const history& done, const schema_files& files)
{
    const int newest = files.migrations.empty() ? 0 : files.migrations.back().version;
    return !done.empty() && done.rbegin()->first > newest;
}

result<applied_files> apply_missing(pqxx::connection& db, const schema_files& files,
                                    const lock_retries& retries)
{
    const auto done = read_history(db, files);
    if (!done)
        return done.error();
    {
        pqxx::nontransaction tx(db);
        tx.exec(create_migrations_table);
        tx.exec(create_functions_table);
        tx.exec("CREATE SCHEMA IF NOT EXISTS " + tx.quote_name(files.schema));
    }

    applied_files applied;
    if (const auto outcome = apply_migrations(db, files, *done, false, retries, applied); !outcome)
        return outcome.error();
    if (!is_newer(*done, files))
        if (const auto outcome = apply_functions(db, files, retries, applied); !outcome)
            return outcome.error();
    if (const auto outcome = apply_migrations(db, files, *done, true, retries, applied); !outcome)
        return outcome.error();
    return applied;
}

schema_state compare_schema(pqxx::connection& db, const schema_files& files)
{
    schema_state state;
    state.schema = files.schema;
    state.newest = files.migrations.empty() ? 0 : files.migrations.back().version;
    const auto done = read_history(db, files);
    if (!done) {
        state.conflict = done.error().message;
        return state;
    }
    state.applied = done->empty() ? 0 : done->rbegin()->first;
    for (const auto& step : files.migrations)
        if (!done->contains(step.version))
            state.missing.push_back(step.version);
    if (!is_newer(*done, files))
        for (const auto& function : list_changed(db, files))
            state.changed_functions.push_back(function.name);
    return state;
}

// Runs `work` with a connection that waits for statements and locks without end. What libpqxx
// throws becomes a failure; `about` begins its sentence.
template <class Work>
auto with_connection(const std::string& dsn, const std::string& about, Work work)
    -> decltype(work(std::declval<pqxx::connection&>()))
{
    settings chosen;
    chosen.dsn = dsn;
    chosen.statement_timeout = chosen.lock_timeout = std::chrono::milliseconds(0);
    try {
        connection db(chosen, "tempinbox-migrate");
        return work(db.raw());
    } catch (const pqxx::broken_connection&) {
        // The caller decides by the code whether PostgreSQL is away or refuses.
        return failure{errc::unavailable, "database: " + text_of(std::current_exception())};
    } catch (const pqxx::failure&) {
        return failure{errc::internal, about + text_of(std::current_exception())};
    }
}

} // namespace

result<std::vector<migration>> read_migrations(std::span<const embedded_file> files,
                                               std::string_view folder)
{
    std::vector<migration> migrations;
    for (const auto& file : files) {
        if (!file.path.starts_with(folder))
            continue;
        const auto name = file.path.substr(folder.size());
        auto step = read_name(name);
        if (!step)
            return failure{errc::invalid_argument,
                           "migration " + std::string(file.path) + " is not called NNNN_name.sql"};
        step->sql = file.content;
        migrations.push_back(std::move(*step));
    }
    std::sort(migrations.begin(), migrations.end(),
              [](const migration& a, const migration& b) { return a.version < b.version; });
    for (std::size_t i = 0; i < migrations.size(); ++i)
        if (migrations[i].version != static_cast<int>(i) + 1)
            return failure{errc::invalid_argument, "migrations in " + std::string(folder) +
                                                       " must be numbered 1, 2, 3 …: found " +
                                                       std::to_string(migrations[i].version) +
                                                       " in place " + std::to_string(i + 1)};
    return migrations;
}

std::vector<function_file> read_functions(std::span<const embedded_file> files,
                                          std::string_view folder)
{
    std::vector<function_file> functions;
    for (const auto& file : files) {
        if (!file.path.starts_with(folder) || !file.path.ends_with(ending))
            continue;
        const auto name = file.path.substr(folder.size());
        functions.push_back(
            {std::string(name.substr(0, name.size() - ending.size())), std::string(file.content)});
    }
    std::sort(functions.begin(), functions.end(),
              [](const function_file& a, const function_file& b) { return a.name < b.name; });
    return functions;
}

result<std::vector<schema_state>> compare_schemas(const std::string& dsn,
                                                  std::span<const schema_files> schemas)
{
    return with_connection(dsn, "the schemas cannot be read: ",
                           [&](pqxx::connection& db) -> result<std::vector<schema_state>> {
                               std::vector<schema_state> states;
                               for (const auto& files : schemas)
                                   states.push_back(compare_schema(db, files));
                               return states;
                           });
}

result<void> check_history(const std::string& dsn, std::span<const schema_files> schemas)
{
    return with_connection(dsn, "", [&](pqxx::connection& db) -> result<void> {
        for (const auto& files : schemas)
            if (const auto done = read_history(db, files); !done)
                return done.error();
        return {};
    });
}

result<applied_files> migrate(const std::string& dsn, const schema_files& files,
                              const lock_retries& retries)
{
    return with_connection(dsn, "schema " + files.schema + ": ",
                           [&](pqxx::connection& db) -> result<applied_files> {
                               take_lock(db);
                               auto applied = apply_missing(db, files, retries);
                               pqxx::nontransaction(db).exec(unlock);
                               return applied;
                           });
}

} // namespace tempinbox::postgres
