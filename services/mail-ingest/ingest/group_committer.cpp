#include "mail-ingest/ingest/group_committer.hpp"

#include "common/events/events.hpp"
#include "common/log/log.hpp"

#include <boost/asio/post.hpp>

namespace tempinbox::mail_ingest {
namespace {

using steady = std::chrono::steady_clock;

const prometheus::Histogram::BucketBoundaries batch_buckets{1, 2, 4, 8, 16, 32, 64, 128};

async::batch_policy policy_of(const group_commit_settings& chosen)
{
    async::batch_policy policy;
    policy.max_in_flight = chosen.max_concurrent_commits;
    policy.slow_after = chosen.slow_commit;
    policy.max_items = chosen.max_batch_messages;
    policy.max_weight = chosen.max_batch_bytes;
    return policy;
}

} // namespace

group_committer::group_committer(runtime::host& host, mailbox::ingest_repository& store,
                                 outbox::publisher& publisher, unacknowledged_mail& unacknowledged,
                                 const group_commit_settings& chosen)
    : host_(host),
      store_(store),
      publisher_(publisher),
      unacknowledged_(unacknowledged),
      settings_(chosen),
      batch_messages_(host.metrics().histogram("tempinbox_mail_ingest_batch_messages",
                                               "Messages per commit", batch_buckets)),
      commit_seconds_(host.metrics().histogram("tempinbox_mail_ingest_commit_duration_seconds",
                                               "Time a batch took to commit",
                                               metrics::latency_buckets())),
      left_out_(host.metrics().counter("tempinbox_mail_ingest_deliveries_dropped_total",
                                       "Deliveries whose inbox ended or was full at the commit, or "
                                       "whose account was deleted before it")),
      commits_(host.executor(), policy_of(chosen), "mail not committed",
               [this](entries batch) { return commit(std::move(batch)); })
{}

awaitable<mailbox::stored_message>
group_committer::store(std::shared_ptr<const mailbox::new_message> message,
                       std::shared_ptr<in_flight_message> in_flight, steady::time_point deadline,
                       trace::context cause)
{
    const auto mine =
        std::make_shared<entry>(std::move(message), std::move(in_flight), std::move(cause));
    auto result = co_await commits_.ask(mine, deadline);
    if (!result) {
        mine->is_abandoned = true;
        if (mine->in_flight)
            mine->in_flight->lose_sender();
        co_return mailbox::stored_message();
    }
    co_return std::move(*result);
}

awaitable<std::vector<mailbox::stored_message>> group_committer::commit(entries batch)
{
    mailbox::mail_batch messages;
    for (const auto& one : batch)
        messages.push_back(one->message);
    auto spans = begin_spans(batch);
    const auto started = steady::now();
    auto results = co_await store_.store(std::move(messages));
    for (std::size_t i = 0; i < spans.size(); ++i) {
        if (!results[i])
            spans[i].fail("not_committed");
        spans[i].end();
    }
    commit_seconds_.Observe(std::chrono::duration<double>(steady::now() - started).count());
    batch_messages_.Observe(static_cast<double>(batch.size()));
    for (const auto& one : batch)
        if (!one->is_abandoned)
            one->in_flight.reset();

    // The sessions are woken when this returns. Events are published after that, so in the second
    // turn of the loop from here on, and concurrently with the next commit.
    const auto executor = host_.executor();
    boost::asio::post(executor, [this, executor, stored = std::move(batch), results]() mutable {
        boost::asio::post(executor, [this, stored = std::move(stored),
                                     results = std::move(results)] { publish(stored, results); });
    });
    co_return results;
}

// One for each message, in its own trace; those of one commit link each other. Semantic
// conventions, "Database client".
std::vector<trace::span> group_committer::begin_spans(const entries& batch)
{
    std::vector<trace::span> spans;
    if (!host_.tracer().is_on())
        return spans;
    for (const auto& one : batch) {
        auto& span = spans.emplace_back();
        if (!one->cause.span.is_sampled())
            continue;
        span = host_.tracer().begin("commit mail", trace::span_kind::client, one->cause);
        span.set("db.system.name", "postgresql");
        span.set("db.operation.name", "commit");
        span.set("db.query.summary", "commit mail");
        span.set("db.operation.batch.size", batch.size());
    }
    for (auto& span : spans)
        for (const auto& other : spans)
            if (&other != &span && other.is_recording())
                span.link(other.context().span);
    return spans;
}

void group_committer::note_left_out(inbox_id inbox, std::string_view why)
{
    left_out_.Increment();
    log::audit(why, {{"inbox_id", inbox.text()}});
}

void group_committer::publish(const entries& batch,
                              const std::vector<mailbox::stored_message>& results)
{
    std::vector<outbox::row> stored;
    std::vector<kafka::message> activity;
    for (std::size_t at = 0; at < batch.size(); ++at) {
        const auto& one = batch[at];
        const auto& deliveries = results[at];
        if (!deliveries)
            continue;
        for (std::size_t i = 0; i < deliveries->size(); ++i) {
            const auto& result = (*deliveries)[i];
            const auto& delivery = one->message->deliveries[i];
            if (result.status == mailbox::delivery_status::repeated ||
                result.status == mailbox::delivery_status::unstorable)
                continue;
            if (result.status == mailbox::delivery_status::stored) {
                stored.push_back(mailbox::ingest_repository::event_of(delivery, result.sequence));
                activity.push_back(events::make_activity(stored.back()));
                if (one->in_flight)
                    one->in_flight->emails.push_back(
                        mailbox::email_key{delivery.account, delivery.id});
                continue;
            }
            note_left_out(delivery.inbox, "inbox ended or was full at the commit");
        }
        if (one->in_flight)
            unacknowledged_.note(one->in_flight);
    }
    if (!stored.empty())
        publisher_.publish(std::move(stored), std::move(activity));
}

} // namespace tempinbox::mail_ingest
