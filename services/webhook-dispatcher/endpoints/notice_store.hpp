#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"

#include "common/postgres/pool.hpp"

#include <string>
#include <vector>

namespace tempinbox::webhooks {

// The account should be notified that the service switched off this webhook.
struct disabled_notice
{
    uuid id;
    account_id account;
    webhook_id webhook;
    std::string url;
    std::string reason;
};

// Pending notices. endpoint_store::disable makes them; switching the webhook on or deleting it ends
// them. Throws when PostgreSQL cannot be reached.
class notice_store
{
public:
    explicit notice_store(postgres::pool& db);

    // The longest pending first, none twice within five minutes. Drops a notice that nobody claimed
    // for a day.
    awaitable<std::vector<disabled_notice>> claim(int limit);
    awaitable<void> settle(account_id account, webhook_id webhook, uuid notice);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
