#pragma once

#include "common/core/awaitable.hpp"
#include "common/plans/account_state.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/types.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tempinbox::mailbox {

// The inbox an address belongs to, with what accepting a mail for it needs.
struct known_address
{
    std::string address;
    bool is_live = false; // false: in quarantine
    account_id account;
    inbox_id inbox;
    time_point until;
    std::optional<plans::account_state> owner; // for live addresses only
    std::int64_t email_count = 0;
    std::int64_t email_bytes = 0;
};

// Address lookups for mail-ingest. Throws if PostgreSQL cannot be reached.
class address_store
{
public:
    explicit address_store(postgres::pool& db);

    // Addresses in lower case without tags. Those that are neither live nor in quarantine are left
    // out. Two statements, however many addresses.
    awaitable<std::vector<known_address>> find(std::vector<std::string> addresses);

private:
    awaitable<void> run_statements(std::shared_ptr<const std::vector<std::string>> addresses,
                                   std::shared_ptr<std::vector<known_address>> found);

    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
