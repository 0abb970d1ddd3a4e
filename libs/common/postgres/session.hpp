#pragma once

#include <pqxx/pqxx>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace tempinbox::postgres {

// A connection of libpqxx 6 (Debian 12) or 7 (Debian 13), alike: it is never restored silently,
// keeps notices off standard error, and prepares a statement on the server at its first use. What
// differs between the two is here and in session.cpp.
class session : public pqxx::connection
{
public:
    explicit session(const std::string& dsn);

    // The statement that exec_prepared() means by this name. Throws pqxx::argument_error if another
    // one has it.
    void define(const std::string& name, const std::string& sql);
    // Sends a defined statement to the server unless it is there.
    void make_ready(const std::string& name);

#if PQXX_VERSION_MAJOR >= 7
    void disconnect() { close(); }

private:
    // libpqxx 6 keeps definitions itself; 7 sends each to the server when it is given.
    struct definition
    {
        std::string sql;
        bool is_ready = false;
    };
    std::map<std::string, definition, std::less<>> definitions_;
#else
private:
    pqxx::quiet_errorhandler quiet_{*this};
#endif
};

// How many rows a statement found, and how many it wrote: signed numbers in libpqxx 7.
inline std::size_t row_count(const pqxx::result& rows)
{
    return static_cast<std::size_t>(rows.size());
}
inline std::size_t written_rows(const pqxx::result& outcome)
{
    return static_cast<std::size_t>(outcome.affected_rows());
}

// The session of a transaction on a pool's connection.
inline session& session_of(pqxx::transaction_base& tx)
{
    return static_cast<session&>(tx.conn());
}

// As libpqxx's members of these names, in a transaction on a pool's connection.
template <class... Args>
pqxx::result exec_prepared(pqxx::transaction_base& tx, const std::string& name, Args&&... args)
{
    session_of(tx).make_ready(name);
    return tx.exec_prepared(name, std::forward<Args>(args)...);
}

template <class... Args>
pqxx::row exec_prepared1(pqxx::transaction_base& tx, const std::string& name, Args&&... args)
{
    session_of(tx).make_ready(name);
    return tx.exec_prepared1(name, std::forward<Args>(args)...);
}

template <class... Args>
void exec_prepared0(pqxx::transaction_base& tx, const std::string& name, Args&&... args)
{
    session_of(tx).make_ready(name);
    tx.exec_prepared0(name, std::forward<Args>(args)...);
}

} // namespace tempinbox::postgres
