#pragma once

#include "accounts/key_store.hpp"
#include "common/core/awaitable.hpp"
#include "common/runtime/host.hpp"

#include <boost/asio/steady_timer.hpp>

#include <unordered_map>

namespace tempinbox::gateway {

// Remembers when keys were last used and writes it every 10 s, each key at most once a minute. Losing some at a crash does no
// harm.
class key_uses
{
public:
    key_uses(runtime::host& host, accounts::key_store& keys);
    key_uses(const key_uses&) = delete;

    void start();
    void stop();
    void note(const accounts::key_owner& owner, time_point now);
    // Writes what is not yet written; never throws.
    awaitable<void> flush();

private:
    struct last_use
    {
        account_id account;
        time_point used;
        time_point written;
    };

    awaitable<void> write_now_and_then();
    std::vector<accounts::key_store::use> take_unwritten();

    runtime::host& host_;
    accounts::key_store& keys_;
    boost::asio::steady_timer next_write_;
    bool is_stopped_ = false;
    std::unordered_map<key_id, last_use> uses_;
};

} // namespace tempinbox::gateway
