#include "gateway/access/key_uses.hpp"

#include "common/log/log.hpp"

namespace tempinbox::gateway {
namespace {

using namespace std::chrono_literals;

constexpr auto write_interval = 10s;
constexpr auto min_interval_per_key = 1min;

} // namespace

key_uses::key_uses(runtime::host& host, accounts::key_repository& keys)
    : host_(host),
      keys_(keys),
      writer_(host.executor(), host.metrics(), "write_key_uses", [this] { return write(); })
{}

awaitable<void> key_uses::stop()
{
    is_stopped_ = true;
    co_await writer_.stop();
    co_await flush();
}

void key_uses::note(const accounts::key_owner& owner, time_point now)
{
    auto& entry = uses_[owner.key];
    entry.account = owner.account.account;
    entry.used = now;
}

awaitable<std::chrono::microseconds> key_uses::write()
{
    co_await flush();
    co_return write_interval;
}

awaitable<void> key_uses::flush()
{
    auto unwritten = take_unwritten();
    if (unwritten.empty())
        co_return;
    try {
        co_await keys_.record_uses(std::move(unwritten));
    } catch (const std::exception& error) {
        // Losing some times does no harm, and flush never throws.
        log::warning("the last use of keys cannot be written", {{"error", error.what()}});
    }
}

std::vector<accounts::key_repository::use> key_uses::take_unwritten()
{
    const auto now = host_.clock().now();
    std::vector<accounts::key_repository::use> unwritten;
    for (auto entry = uses_.begin(); entry != uses_.end();) {
        auto& use = entry->second;
        const bool may_write = is_stopped_ || now - use.written >= min_interval_per_key;
        if (use.used > use.written && may_write) {
            unwritten.emplace_back(use.account, entry->first, use.used);
            use.written = now;
            ++entry;
        } else if (now - use.used > min_interval_per_key && use.used <= use.written) {
            entry = uses_.erase(entry);
        } else {
            ++entry;
        }
    }
    return unwritten;
}

} // namespace tempinbox::gateway
