#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"

#include "common/postgres/pool.hpp"

#include <string>
#include <vector>

namespace tempinbox::webhooks {

// That a webhook was switched off by the service, which its account should hear.
struct disabled_notice
{
    uuid id;
    account_id account;
    webhook_id webhook;
    std::string url;
    std::string reason;
};

// Notices that are owed; endpoint_store::disable makes them, switching on and deleting end them.
// Throws when PostgreSQL cannot be reached.
class notice_store
{
public:
    explicit notice_store(postgres::pool& db);

    // The longest owed first, none twice within five minutes, and none after a day: nobody asked
    // for so long.
    awaitable<std::vector<disabled_notice>> claim(int limit);
    awaitable<void> settle(account_id account, webhook_id webhook, uuid notice);

private:
    postgres::pool& db_;
};

} // namespace tempinbox::webhooks
