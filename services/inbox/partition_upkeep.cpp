#include "inbox/partition_upkeep.hpp"

#include "common/log/log.hpp"

namespace tempinbox::inbox {
namespace {

using namespace std::chrono_literals;

constexpr int days_ahead = 3;
// Most inboxes live a day.
constexpr int hours_ahead = 26;

} // namespace

partition_upkeep::partition_upkeep(runtime::host& host, mailbox::partition_store& store)
    : host_(host),
      store_(store),
      task_(host, "partitions not kept up", [this] { return round(); })
{}

void partition_upkeep::note_end(time_point ends_at)
{
    const time_point hour = std::chrono::floor<std::chrono::hours>(ends_at);
    if (hour < host_.clock().now() + std::chrono::hours(hours_ahead - 1) || ends_at == mailbox::endless)
        return;
    if (noted_hours_.insert(hour).second)
        task_.wake();
}

awaitable<std::chrono::microseconds> partition_upkeep::round()
{
    co_await store_.ensure_email_days(days_ahead);
    const auto missing = co_await store_.missing_body_hours(hours_ahead);
    for (const auto hour : missing)
        co_await store_.ensure_body_hour(hour);
    noted_hours_.erase(noted_hours_.begin(), noted_hours_.lower_bound(host_.clock().now()));

    const auto past = co_await store_.past_partitions();
    for (const auto& name : past) {
        if (co_await store_.drop_if_empty(name))
            log::info("partition dropped", {{"partition", name}});
    }
    co_return 1min;
}

} // namespace tempinbox::inbox
