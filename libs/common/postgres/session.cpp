#include "common/postgres/session.hpp"

namespace tempinbox::postgres {

#if PQXX_VERSION_MAJOR >= 7

// Version 7 never restores a connection by itself.
session::session(const std::string& dsn) : pqxx::connection(dsn)
{
    set_notice_handler([](pqxx::zview) {});
}

void session::define(const std::string& name, const std::string& sql)
{
    const auto [known, is_new] = definitions_.try_emplace(name, definition{sql});
    if (!is_new && known->second.sql != sql)
        throw pqxx::argument_error("another statement is called " + name);
}

void session::make_ready(const std::string& name)
{
    const auto known = definitions_.find(name);
    if (known == definitions_.end())
        throw pqxx::argument_error("no statement is called " + name);
    if (known->second.is_ready)
        return;
    prepare(name, known->second.sql);
    known->second.is_ready = true;
}

#else

session::session(const std::string& dsn) : pqxx::connection(dsn)
{
    // Version 6 restores a lost connection silently, and that one would have lost its SETs and
    // locks.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    inhibit_reactivation(true);
#pragma GCC diagnostic pop
}

void session::define(const std::string& name, const std::string& sql)
{
    prepare(name, sql);
}

void session::make_ready(const std::string&) {}

#endif

} // namespace tempinbox::postgres
