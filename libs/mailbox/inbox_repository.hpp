#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/list_order.hpp"
#include "common/outbox/outbox.hpp"
#include "common/plans/account_state.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/inbox_creation.hpp"
#include "mailbox/rejection.hpp"
#include "mailbox/retention.hpp"
#include "mailbox/types.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::mailbox {

// An inbox as it was changed and the committed events to publish; none if only its name, tags or
// metadata were.
struct changed_inbox
{
    mailbox::inbox inbox;
    std::vector<outbox::row> events;
};

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
    std::optional<retention_change> retention;
    std::optional<bool> renews_on_use;
};

enum class inbox_status { all, active, expired };

struct inbox_filter
{
    inbox_status status = inbox_status::all;
    std::vector<std::string> tags; // an inbox must have all of them
    std::optional<std::string> address;
};

// Inboxes: creating, finding, listing and changing them. not_found if an inbox is absent or another
// account's; throws if PostgreSQL cannot be reached.
class inbox_repository
{
public:
    static constexpr std::size_t max_metadata = 20;

    using creations = std::vector<result<created_inbox>>;

    // Events are written with `outbox_owner` as owner.
    inbox_repository(postgres::pool& db, std::string outbox_owner);

    // Writes address, inbox, inbox.created and inbox.state in one transaction; idempotent on the
    // id. Fails with permission_denied if the plan's live inboxes are used up (exact under any
    // concurrency), conflict (one text) if the address is taken, quarantined or reserved. A
    // catch-all needs a subdomain, too (take_subdomain); the holder of a subdomain may have an
    // address in it again at once.
    awaitable<result<created_inbox>> create(new_inbox requested, time_point now);

    // The same for a batch, in the order of the requests, as if one after the other; in one
    // transaction, as a rule. One that is refused, also by PostgreSQL, fails alone: `unavailable`
    // if its account is locked for too long, `internal` if its data cannot be stored. Throws only
    // if none was created.
    awaitable<creations> create_all(std::vector<new_inbox> requested, time_point now);

    // Fails with invalid_argument where create would; creates nothing.
    awaitable<result<void>> check(new_inbox requested, time_point now);

    // postmaster@ and abuse@ of a domain for its operator, without end and whatever the plan
    // allows; existing ones stay.
    awaitable<result<std::vector<created_inbox>>> create_operator_inboxes(account_id account,
                                                                          std::string domain);

    awaitable<result<inbox>> find(account_id account, inbox_id id);

    // What was refused of the last day, the latest first; not_found as for find.
    awaitable<result<std::vector<rejection>>> list_rejections(account_id account, inbox_id id);

    // How many of the plan's live inboxes are in use; with a tag, how many of them have it.
    awaitable<std::int64_t> count_live(account_id account, std::optional<std::string> tag = {});

    // not_found unless there is an inbox with this id and this tag, or an email in one.
    awaitable<result<void>> check_tag(account_id account, inbox_id id, std::string tag);
    awaitable<result<void>> check_tag(account_id account, email_id id, std::string tag);

    // With a condition beside `active` a page reads at most 2,000 rows, so it may be short though
    // there is a next one.
    awaitable<result<page<inbox>>> list(account_id account, inbox_filter filter, int limit,
                                        std::string cursor,
                                        list_order order = list_order::newest_first);

    // Applies all changes or none. not_found if the inbox has ended; invalid_argument for a TTL
    // past the plan's limit, and for more metadata than an inbox can have; permission_denied for a
    // renewal that the plan does not have. The address lives as
    // long as its inbox. Another TTL is written to inbox.state.
    awaitable<result<changed_inbox>> change(inbox_change requested, time_point now);

private:
    enum class attempt_status { done, contended, refused, lost };

    awaitable<attempt_status> attempt(const std::vector<new_inbox>& requested,
                                      const std::vector<std::size_t>& part, time_point now,
                                      std::chrono::milliseconds lock_wait, creations& results);

    postgres::pool& db_;
    std::string outbox_owner_;
};

} // namespace tempinbox::mailbox
