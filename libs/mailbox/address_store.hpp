#pragma once

#include "common/core/awaitable.hpp"
#include "common/plans/account_state.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/types.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tempinbox::mailbox {

// Who has an address, and what a mail for it must know.
struct known_address
{
    std::string address;
    bool is_live = false; // else in quarantine
    account_id account;
    inbox_id inbox;
    time_point until;
    std::optional<plans::account_state> owner; // of live ones
    std::int64_t email_count = 0;
    std::int64_t email_bytes = 0;
};

// Looks addresses up for mail-ingest. Throws when PostgreSQL cannot be reached.
class address_store
{
public:
    explicit address_store(postgres::pool& db);

    // Addresses in lower case without tags; those nobody has or had are left out. Any number cost
    // two statements.
    awaitable<std::vector<known_address>> find(std::vector<std::string> addresses);

private:
    awaitable<void> run_statements(std::shared_ptr<const std::vector<std::string>> addresses,
                                   std::shared_ptr<std::vector<known_address>> found);

    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
