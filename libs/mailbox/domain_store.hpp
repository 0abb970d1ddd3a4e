#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/types.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tempinbox::mailbox {

struct domain
{
    std::string name; // lower case, A-labels
    bool is_default = false;
    std::optional<account_id> operator_account;
};

// The domains an inbox can be on. Throws if PostgreSQL cannot be reached.
class domain_store
{
public:
    explicit domain_store(postgres::pool& db);

    // The default first, then by name.
    awaitable<std::vector<domain>> list();

    // Idempotent; the first domain becomes the default. `operator_account`, if given, replaces the
    // stored one.
    awaitable<domain> add(std::string name, std::optional<account_id> operator_account);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
