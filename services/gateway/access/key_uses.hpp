#pragma once

#include "accounts/key_repository.hpp"
#include "common/async/periodic_task.hpp"
#include "common/core/awaitable.hpp"
#include "common/runtime/host.hpp"

#include <unordered_map>

namespace tempinbox::gateway {

// Records when keys were last used and writes the times every 10 s, each key at most once a minute.
// Losing some in a crash does no harm.
class key_uses
{
public:
    key_uses(runtime::host& host, accounts::key_repository& keys);
    key_uses(const key_uses&) = delete;

    void start() { writer_.start(); }
    // Writes the rest.
    awaitable<void> stop();
    void note(const accounts::key_owner& owner, time_point now);
    // Writes what is due; never throws.
    awaitable<void> flush();

private:
    struct last_use
    {
        account_id account;
        time_point used;
        time_point written;
    };

    awaitable<std::chrono::microseconds> write();
    std::vector<accounts::key_repository::use> take_unwritten();

    runtime::host& host_;
    accounts::key_repository& keys_;
    bool is_stopped_ = false;
    std::unordered_map<key_id, last_use> uses_;
    async::periodic_task writer_;
};

} // namespace tempinbox::gateway
