#pragma once

#include "common/core/awaitable.hpp"
#include "common/plans/account_state.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/types.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::mailbox {

// Changes to a live inbox; what is absent stays.
struct inbox_change
{
    plans::account_state
        account; // as the caller knows it; the stored state wins if its version is higher
    inbox_id id;
    std::optional<std::chrono::seconds> ttl; // counted from now
    std::optional<std::string> name;         // empty: remove the name
    std::optional<std::vector<std::string>> tags;
    bool removes_all_metadata = false;
    std::map<std::string, std::optional<std::string>> metadata; // absent value: remove the key
};

// Changes inboxes for their owners. not_found if the inbox is absent, has ended or is another
// account's; throws if PostgreSQL cannot be reached.
class inbox_change_store
{
public:
    static constexpr std::size_t max_metadata = 20;

    explicit inbox_change_store(postgres::pool& db);

    // Applies all changes or none. invalid_argument for a TTL past the plan's limit, and for more
    // metadata than an inbox can have. The address lives as long as its inbox.
    awaitable<result<inbox>> change(inbox_change requested, time_point now);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::mailbox
