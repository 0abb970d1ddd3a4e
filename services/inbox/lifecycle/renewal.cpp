#include "inbox/lifecycle/renewal.hpp"

#include <iterator>
#include <utility>
#include <vector>

namespace tempinbox::inbox {
namespace {

// A tenth of the shortest TTL is six seconds.
constexpr std::chrono::seconds interval{2};
// Between full batches, so that requests go first.
constexpr std::chrono::milliseconds batch_delay{10};
constexpr std::size_t max_reads = 100'000; // of inboxes; further ones are noted with a later read

} // namespace

renewal::renewal(runtime::host& host, mailbox::renewal_repository& repository,
                 outbox::publisher& publisher, partition_maintenance& partitions)
    : clock_(host.clock()),
      repository_(repository),
      publisher_(publisher),
      partitions_(partitions),
      renewed_(host.metrics().counter("tempinbox_inbox_inboxes_renewed_total",
                                      "Inboxes whose end moved since they were read")),
      task_(host.executor(), host.metrics(), "renew_inboxes", [this] { return renew(); })
{}

void renewal::start()
{
    task_.start();
}

awaitable<void> renewal::stop()
{
    co_await task_.stop();
}

void renewal::note_read(account_id account, inbox_id inbox)
{
    if (reads_.size() < max_reads)
        reads_.insert({account, inbox});
}

awaitable<std::chrono::microseconds> renewal::renew()
{
    std::vector<mailbox::inbox_use> uses;
    while (!reads_.empty() && uses.size() < mailbox::renewal_repository::max_uses)
        uses.push_back(reads_.extract(reads_.begin()).value());
    if (uses.empty())
        co_return interval;
    auto renewed =
        co_await repository_.renew(std::move(uses), mailbox::use_kind::read, clock_.now());
    renewed_.Increment(static_cast<double>(renewed.inboxes.size()));
    for (const auto& inbox : renewed.inboxes)
        partitions_.note_end(inbox.expires_at);
    publisher_.publish(std::move(renewed.events));
    co_return reads_.empty() ? interval : batch_delay;
}

} // namespace tempinbox::inbox
