#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"
#include "common/core/time.hpp"
#include "common/outbox/outbox.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/types.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace tempinbox::mailbox {

// An inbox that was used.
struct inbox_use
{
    account_id account;
    inbox_id inbox;

    friend auto operator<=>(const inbox_use&, const inbox_use&) = default;
};

// How it was: a capture is renewed by a good login alone, any other inbox by whoever reads it.
enum class use_kind { login, read };

// The inboxes whose end moved, and the committed events to publish.
struct renewed_inboxes
{
    std::vector<inbox> inboxes;
    std::vector<outbox::row> events;
};

// Moves the end of inboxes that are renewed when they are used: to their TTL from now, which the
// plan of the moment bounds, once a tenth of that has passed. Inboxes that do not renew, have ended
// or whose plan has no renewals stay as they are. An extension as by inbox_repository::change:
// another state of inbox.state, no second inbox.created. Any number of processes may do so at once.
// Throws if PostgreSQL cannot be reached.
class renewal_repository
{
public:
    static constexpr std::size_t max_uses = 500;

    // Events are written with `outbox_owner` as owner.
    renewal_repository(postgres::pool& db, std::string outbox_owner);

    // One transaction; at most max_uses, no two of them equal.
    awaitable<renewed_inboxes> renew(std::vector<inbox_use> uses, use_kind kind, time_point now);

private:
    postgres::pool& db_;
    std::string outbox_owner_;
};

} // namespace tempinbox::mailbox
