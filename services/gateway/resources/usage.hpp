#pragma once

#include "common/core/awaitable.hpp"
#include "gateway/clients/inbox_client.hpp"
#include "gateway/clients/rate_limit_client.hpp"
#include "gateway/clients/webhook_client.hpp"
#include "gateway/routes/caller.hpp"

#include <array>
#include <chrono>
#include <string>

namespace tempinbox::gateway {

// An account's usage on each of the last 30 UTC days, including today.
class usage_history
{
public:
    static constexpr int days = 30;

    struct day_use
    {
        std::int64_t requests = 0;
        std::int64_t emails = 0;
        std::int64_t deliveries = 0;
    };

    explicit usage_history(time_point now) : today_(day_of(now)) {}

    // The entry of a day, given as its first second. A day outside the thirty gets an entry that is
    // never shown.
    day_use& of(std::int64_t seconds);
    day_use& of_today() { return uses_.back(); }
    // Newest first: `{"days":[{"day":"2026-11-21","requests":1,"emails":2,"deliveries":3},…]}`
    std::string json() const;

private:
    std::chrono::sys_days today_;
    std::array<day_use, days> uses_{};
    day_use nobodys_;
};

awaitable<http::response> get_usage(const http::request& received, const caller& who,
                                    rate_limit_client& quotas, inbox_client& inboxes,
                                    webhook_client& webhooks);

} // namespace tempinbox::gateway
