#pragma once

#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"
#include "common/rpc/client.hpp"
#include "common/runtime/completion.hpp"
#include "rate-limit/quota_rule.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tempinbox::rate_limit {

// Asks other replicas for their blocks: one call to each at a time, the accounts that come
// meanwhile share the next. Waits 100 ms at most; a replica that could not be reached is not asked
// again for a second. This replica itself is never asked.
class reclaim_client
{
public:
    reclaim_client(runtime::host& host, rpc::tokens& tokens);
    reclaim_client(const reclaim_client&) = delete;

    void set_own_address(std::string address) { own_ = std::move(address); }
    awaitable<void> reclaim(std::string holder, account_id account, day on_day);

private:
    struct peer;
    struct batch;

    std::shared_ptr<peer> find_peer(const std::string& holder);
    awaitable<void> call_batches(std::shared_ptr<peer> to);

    runtime::host& host_;
    rpc::tokens& tokens_;
    std::string own_;
    std::map<std::string, std::shared_ptr<peer>> peers_;
    prometheus::Counter& reclaims_;
};

} // namespace tempinbox::rate_limit
