#include "gateway/quota/failed_authentication.hpp"

#include "common/core/network.hpp"

#include <algorithm>

namespace tempinbox::gateway {
namespace {

constexpr std::size_t max_addresses = 100'000;

} // namespace

failed_authentication::decision failed_authentication::note(const boost::asio::ip::address& address,
                                                            time_point now)
{
    start_minute(now);
    auto prefix = client_prefix(address);
    if (failures_.size() >= max_addresses && !failures_.contains(prefix))
        prefix.clear();
    auto& failures = failures_[prefix];
    if (failures >= allowance)
        return decision(false, rate_limit_of(failures));
    ++failures;
    return decision(true, rate_limit_of(failures));
}

rate_limit_headers failed_authentication::rate_limit(const boost::asio::ip::address& address,
                                                     time_point now)
{
    start_minute(now);
    auto entry = failures_.find(client_prefix(address));
    if (entry == failures_.end() && failures_.size() >= max_addresses)
        entry = failures_.find("");
    return rate_limit_of(entry == failures_.end() ? 0 : entry->second);
}

void failed_authentication::start_minute(time_point now)
{
    const auto minute = to_unix_seconds(now) / 60;
    if (minute == minute_)
        return;
    minute_ = minute;
    failures_.clear();
}

rate_limit_headers failed_authentication::rate_limit_of(std::int64_t failures) const
{
    return rate_limit_headers(allowance, std::max<std::int64_t>(0, allowance - failures),
                              (minute_ + 1) * 60);
}

} // namespace tempinbox::gateway
