#include "common/postgres/composite_type.hpp"

#include <map>

namespace tempinbox::postgres {
namespace {

// Each worker thread has one connection. The backend tells connections apart that tests use in turn
// on one thread.
struct cached_oids
{
    int backend = 0;
    std::map<std::string, type_oid> oids;
};

thread_local cached_oids cached;

} // namespace

type_oid composite_oid(pqxx::transaction_base& tx, const std::string& name)
{
    if (cached.backend != tx.conn().backendpid())
        cached = {tx.conn().backendpid(), {}};
    const auto known = cached.oids.find(name);
    if (known != cached.oids.end())
        return known->second;
    const auto found = tx.exec_params1("SELECT $1::text::regtype::oid", name)[0].as<type_oid>();
    return cached.oids.emplace(name, found).first->second;
}

void clear_composite_oids()
{
    cached = {};
}

} // namespace tempinbox::postgres
