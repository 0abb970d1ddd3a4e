#pragma once

#include "common/async/batcher.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"
#include "common/rpc/client.hpp"
#include "rate-limit/quota_rule.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tempinbox::rate_limit {

// Reclaims blocks from other replicas: one call to each at a time; accounts that come meanwhile
// share the next. Waits at most 100 ms. A replica that could not be reached is not called again for
// one second. Never calls this replica itself.
class reclaim_client
{
public:
    reclaim_client(runtime::host& host, rpc::tokens& tokens);
    reclaim_client(const reclaim_client&) = delete;

    void set_own_address(std::string address) { own_ = std::move(address); }
    awaitable<void> reclaim(std::string holder, account_id account, day on_day);

private:
    // Whose block, of which day.
    struct account_day
    {
        account_id account;
        day on_day;
    };
    struct replica;
    struct peer;

    std::shared_ptr<peer> find_peer(const std::string& holder);
    static awaitable<void> call(std::shared_ptr<replica> to, std::vector<account_day> blocks);

    runtime::host& host_;
    rpc::tokens& tokens_;
    std::string own_;
    std::map<std::string, std::shared_ptr<peer>> peers_;
    prometheus::Counter& reclaims_;
};

} // namespace tempinbox::rate_limit
