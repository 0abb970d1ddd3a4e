#pragma once

#include "common/core/awaitable.hpp"
#include "common/outbox/outbox.hpp"
#include "common/plans/account_state.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/types.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::mailbox {

// An inbox someone asks for. Absent: a random local part, the default domain, the plan's default
// life.
struct new_inbox
{
    plans::account_state
        account; // as the caller knows it; the stored one holds where its version is higher
    inbox_id id;
    std::optional<std::string> local_part;
    std::optional<std::string> domain;
    std::optional<std::chrono::seconds> ttl;
    std::optional<std::string> name;
    std::vector<std::string> tags;
    std::map<std::string, std::string> metadata;
};

// An inbox and the committed events to publish; none when it had been made before.
struct created_inbox
{
    mailbox::inbox inbox;
    std::vector<outbox::row> events;
};

enum class inbox_status { all, active, expired };

struct inbox_filter
{
    inbox_status status = inbox_status::all;
    std::optional<std::string> tag;
    std::optional<std::string> address;
};

// The life an inbox gets: 60 seconds to the plan's longest, else invalid_argument naming
// ttlSeconds.
result<std::chrono::seconds> choose_ttl(const plans::plan_limits& limits,
                                        std::optional<std::chrono::seconds> requested);

// Inboxes at rest. What is absent or another account's is not_found; throws when PostgreSQL cannot
// be reached.
class inbox_store
{
public:
    // Events are written as owned by `outbox_owner`.
    inbox_store(postgres::pool& db, std::string outbox_owner);

    // Address, inbox and inbox.created in one transaction; idempotent on the id. Fails with
    // permission_denied when the plan's live inboxes are used up (exact under any concurrency),
    // conflict (one text) for an address that is taken, quarantined or reserved.
    awaitable<result<created_inbox>> create(new_inbox requested, time_point now);

    // What create would call invalid_argument; nothing is made.
    awaitable<result<void>> check(new_inbox requested, time_point now);

    // postmaster@ and abuse@ of a domain for its operator, without end and whatever the plan
    // allows; what is there already stays.
    awaitable<result<std::vector<created_inbox>>> create_operator_inboxes(account_id account,
                                                                          std::string domain);

    awaitable<result<inbox>> find(account_id account, inbox_id id);

    // How many of the plan's live inboxes are in use.
    awaitable<std::int64_t> count_live(account_id account);

    // Newest first. With a condition beside `active` a page looks at no more than 2,000 rows, so it
    // may be short while there is a next one.
    awaitable<result<page<inbox>>> list(account_id account, inbox_filter filter, int limit,
                                        std::string cursor);

private:
    postgres::pool& db_;
    std::string outbox_owner_;
};

} // namespace tempinbox::mailbox
