#include "inbox/lifecycle/inbox_creator.hpp"

#include "common/trace/current.hpp"
#include "inbox/lifecycle/change_policy.hpp"

#include <algorithm>
#include <iterator>

namespace tempinbox::inbox {
namespace {

const prometheus::Histogram::BucketBoundaries batch_buckets{1, 2, 4, 8, 16, 32, 64, 128};

} // namespace

inbox_creator::inbox_creator(runtime::host& host, mailbox::inbox_repository& inboxes,
                             outbox::publisher& publisher, partition_maintenance& partitions)
    : clock_(host.clock()),
      inboxes_(inboxes),
      publisher_(publisher),
      partitions_(partitions),
      created_(host.metrics().counter("tempinbox_inbox_inboxes_created_total", "Inboxes created")),
      batch_inboxes_(host.metrics().histogram("tempinbox_inbox_create_batch_inboxes",
                                              "Inboxes requested per transaction that creates them",
                                              batch_buckets)),
      batches_(host.executor(), change_policy, "inboxes not created",
               [this](std::vector<mailbox::new_inbox> requested) {
                   return create_all(std::move(requested));
               })
{}

awaitable<result<mailbox::inbox>> inbox_creator::create(mailbox::new_inbox requested)
{
    // The batch has no trace, but each inbox's events belong to the request's.
    requested.cause = trace::current_or_new();
    auto created = co_await batches_.ask(std::move(requested));
    if (!created)
        co_return failure(errc::unavailable, "Inboxes cannot be created now; try again");
    co_return std::move(*created);
}

awaitable<inbox_creator::results>
inbox_creator::create_all(std::vector<mailbox::new_inbox> requested)
{
    batch_inboxes_.Observe(static_cast<double>(requested.size()));
    auto batch = co_await inboxes_.create_all(std::move(requested), clock_.now());
    results answers;
    answers.reserve(batch.size());
    std::vector<outbox::row> events;
    for (auto& one : batch) {
        if (!one) {
            answers.emplace_back(one.error());
            continue;
        }
        if (!one->events.empty()) {
            created_.Increment();
            partitions_.note_end(one->inbox.expires_at);
        }
        std::move(one->events.begin(), one->events.end(), std::back_inserter(events));
        answers.emplace_back(std::move(one->inbox));
    }
    if (!events.empty())
        publisher_.publish(std::move(events));
    co_return answers;
}

} // namespace tempinbox::inbox
