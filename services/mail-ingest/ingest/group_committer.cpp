#include "mail-ingest/ingest/group_committer.hpp"

#include "common/log/log.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace tempinbox::mail_ingest {
namespace {

using steady = std::chrono::steady_clock;

const prometheus::Histogram::BucketBoundaries batch_buckets{1, 2, 4, 8, 16, 32, 64, 128};

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
                                               "Messages per commit.", batch_buckets)),
      commit_seconds_(host.metrics().histogram("tempinbox_mail_ingest_commit_duration_seconds",
                                               "Time a batch took to commit.",
                                               metrics::latency_buckets())),
      left_out_(host.metrics().counter("tempinbox_mail_ingest_deliveries_left_out_total",
                                       "Deliveries whose inbox ended or was full at the commit, or "
                                       "whose account was deleted before it."))
{}

awaitable<mailbox::stored_message>
group_committer::store(std::shared_ptr<const mailbox::new_message> message,
                       std::shared_ptr<in_flight_message> in_flight, steady::time_point deadline)
{
    const auto mine =
        std::make_shared<entry>(std::move(message), std::move(in_flight), host_.executor());
    queue_.push_back(mine);
    begin_if_needed();
    if (!co_await mine->done.wait_until(deadline)) {
        // Its sender gets 451.
        mine->is_abandoned = true;
        if (mine->in_flight)
            mine->in_flight->lose_sender();
    }
    co_return mine->result;
}

bool group_committer::may_begin() const
{
    if (is_beginning_)
        return false;
    const auto slow_since = steady::now() - settings_.slow_commit;
    return under_way_.empty() || (under_way_.size() < settings_.max_concurrent_commits &&
                                  *under_way_.rbegin() <= slow_since);
}

void group_committer::begin_if_needed()
{
    if (!queue_.empty() && may_begin())
        boost::asio::co_spawn(host_.executor(), run(), boost::asio::detached);
}

group_committer::entries group_committer::take_batch()
{
    entries batch;
    std::size_t bytes = 0;
    while (!queue_.empty() && batch.size() < settings_.max_batch_messages) {
        auto& next = queue_.front();
        const auto more = next->message->held_bytes();
        if (!batch.empty() && bytes + more > settings_.max_batch_bytes)
            break;
        bytes += more;
        if (!next->is_abandoned)
            batch.push_back(std::move(next));
        queue_.pop_front();
    }
    return batch;
}

awaitable<void> group_committer::run()
{
    while (!queue_.empty() && may_begin()) {
        // Lets messages that are complete by now join the batch.
        is_beginning_ = true;
        co_await boost::asio::post(host_.executor(), boost::asio::use_awaitable);
        is_beginning_ = false;
        auto batch = take_batch();
        if (batch.empty())
            continue;
        const auto mine = under_way_.insert(steady::now());
        // While this commit is slow, queued messages do not wait for its end.
        boost::asio::steady_timer slow(host_.executor(), settings_.slow_commit);
        slow.async_wait([this](const boost::system::error_code& error) {
            if (!error)
                begin_if_needed();
        });
        co_await commit(std::move(batch));
        under_way_.erase(mine);
    }
}

awaitable<void> group_committer::commit(entries batch)
{
    mailbox::mail_batch messages;
    for (const auto& one : batch)
        messages.push_back(one->message);
    const auto started = steady::now();
    auto results = co_await store_.store(std::move(messages));
    commit_seconds_.Observe(std::chrono::duration<double>(steady::now() - started).count());
    batch_messages_.Observe(static_cast<double>(batch.size()));
    for (std::size_t i = 0; i < batch.size(); ++i) {
        batch[i]->result = std::move(results[i]);
        if (!batch[i]->is_abandoned)
            batch[i]->in_flight.reset();
        batch[i]->done.set();
    }
    // Runs after the sessions just woken, concurrently with the next commit.
    boost::asio::post(host_.executor(), [this, stored = std::move(batch)] { publish(stored); });
}

void group_committer::note_left_out(inbox_id inbox, std::string_view why)
{
    left_out_.Increment();
    log::info(why, {{"inbox_id", inbox.text()}});
}

void group_committer::publish(const entries& batch)
{
    std::vector<outbox::row> events;
    for (const auto& one : batch) {
        if (!one->result)
            continue;
        for (std::size_t i = 0; i < one->result->size(); ++i) {
            const auto& result = (*one->result)[i];
            const auto& delivery = one->message->deliveries[i];
            if (result.status == mailbox::delivery_status::repeated ||
                result.status == mailbox::delivery_status::unstorable)
                continue;
            if (result.status == mailbox::delivery_status::stored) {
                events.push_back(mailbox::ingest_repository::event_of(delivery, result.sequence));
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
    if (!events.empty())
        publisher_.publish(std::move(events));
}

} // namespace tempinbox::mail_ingest
