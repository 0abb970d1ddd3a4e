#include "gateway/quota/failed_authentication.hpp"

#include "gateway/api/client_address.hpp"

#include <algorithm>

namespace tempinbox::gateway {
namespace {

constexpr std::size_t most_addresses = 100'000;

} // namespace

failed_authentication::outcome failed_authentication::note(const boost::asio::ip::address& address,
                                                           time_point now)
{
    start_minute(now);
    auto bucket = address_bucket(address);
    if (failures_.size() >= most_addresses && !failures_.contains(bucket))
        bucket.clear();
    auto& failures = failures_[bucket];
    if (failures >= allowance)
        return outcome(false, numbers_of(failures));
    ++failures;
    return outcome(true, numbers_of(failures));
}

quota_numbers failed_authentication::numbers(const boost::asio::ip::address& address,
                                             time_point now)
{
    start_minute(now);
    auto entry = failures_.find(address_bucket(address));
    if (entry == failures_.end() && failures_.size() >= most_addresses)
        entry = failures_.find("");
    return numbers_of(entry == failures_.end() ? 0 : entry->second);
}

void failed_authentication::start_minute(time_point now)
{
    const auto minute = to_unix_seconds(now) / 60;
    if (minute == minute_)
        return;
    minute_ = minute;
    failures_.clear();
}

quota_numbers failed_authentication::numbers_of(std::int64_t failures) const
{
    return quota_numbers(allowance, std::max<std::int64_t>(0, allowance - failures),
                         (minute_ + 1) * 60);
}

} // namespace tempinbox::gateway
