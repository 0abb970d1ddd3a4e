#include "gateway/quota/failed_authentication.hpp"

#include <algorithm>

namespace tempinbox::gateway {
namespace {

constexpr std::size_t most_addresses = 100'000;

// IPv4 and IPv4-mapped addresses by themselves, IPv6 by /64: a host is commonly given a whole one.
std::string bucket_of(const boost::asio::ip::address& address)
{
    if (address.is_v4()) {
        const auto bytes = address.to_v4().to_bytes();
        return std::string(bytes.begin(), bytes.end());
    }
    const auto bytes = address.to_v6().to_bytes();
    if (address.to_v6().is_v4_mapped())
        return std::string(bytes.begin() + 12, bytes.end());
    return std::string(bytes.begin(), bytes.begin() + 8);
}

} // namespace

failed_authentication::outcome failed_authentication::note(const boost::asio::ip::address& address, time_point now)
{
    start_minute(now);
    auto bucket = bucket_of(address);
    if (failures_.size() >= most_addresses && !failures_.contains(bucket))
        bucket.clear();
    auto& failures = failures_[bucket];
    if (failures >= allowance)
        return outcome(false, numbers_of(failures));
    ++failures;
    return outcome(true, numbers_of(failures));
}

quota_numbers failed_authentication::numbers(const boost::asio::ip::address& address, time_point now)
{
    start_minute(now);
    const auto entry = failures_.find(bucket_of(address));
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
    return quota_numbers(allowance, std::max<std::int64_t>(0, allowance - failures), (minute_ + 1) * 60);
}

} // namespace tempinbox::gateway
