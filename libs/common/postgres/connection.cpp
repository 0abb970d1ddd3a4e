#include "common/postgres/composite_type.hpp"
#include "common/postgres/dsn.hpp"
#include "common/postgres/pool.hpp"

namespace tempinbox::postgres {
namespace {

std::string complete_dsn(const settings& chosen, const std::string& application)
{
    auto dsn = with_default(chosen.dsn, "connect_timeout", "3");
    dsn = with_default(dsn, "application_name", application);
    // For a peer that vanished silently: unsent data is given up after 5 s, a wait in silence after
    // 5 + 3 × 2 s.
    dsn = with_default(dsn, "tcp_user_timeout", "5000");
    dsn = with_default(dsn, "keepalives_idle", "5");
    dsn = with_default(dsn, "keepalives_interval", "2");
    dsn = with_default(dsn, "keepalives_count", "3");
    return with_parameter(dsn, "client_encoding", "UTF8");
}

std::string session_settings(const settings& chosen)
{
    return "SET TIME ZONE 'UTC'; SET statement_timeout = " +
           std::to_string(chosen.statement_timeout.count()) +
           "; SET lock_timeout = " + std::to_string(chosen.lock_timeout.count()) +
           // A suspended process must not hold locks that others need for long.
           "; SET idle_in_transaction_session_timeout = 15000"
           // Planning costs more than running most of these statements, so plans are renewed only
           // now and then (`plan_ttl`). A plan made while a table was empty is still used once it
           // is full, so a sequential scan must not look cheap.
           "; SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET jit = off";
}

} // namespace

connection::connection(const settings& chosen, std::string application)
    : raw_(std::make_unique<session>(complete_dsn(chosen, application)))
{
    clear_composite_oids();
    pqxx::nontransaction(*raw_).exec(session_settings(chosen));
}

} // namespace tempinbox::postgres
