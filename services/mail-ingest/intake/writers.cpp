#include "mail-ingest/intake/writers.hpp"

#include "common/log/log.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

namespace tempinbox::mail_ingest {
namespace {

const prometheus::Histogram::BucketBoundaries batch_buckets{1, 2, 4, 8, 16, 32, 64, 128};

} // namespace

writers::writers(runtime::host& host, mailbox::mail_store& store, outbox::publisher& publisher, unconfirmed_mail& unconfirmed,
                 const writer_settings& chosen)
    : host_(host),
      store_(store),
      publisher_(publisher),
      unconfirmed_(unconfirmed),
      settings_(chosen),
      writers_(chosen.writers),
      batch_messages_(host.metrics().histogram("tempinbox_mail_ingest_batch_messages", "Messages a commit.", batch_buckets)),
      commit_seconds_(host.metrics().histogram("tempinbox_mail_ingest_commit_duration_seconds", "Time a batch took to commit.",
                                               metrics::latency_buckets())),
      left_out_(host.metrics().counter("tempinbox_mail_ingest_deliveries_left_out_total",
                                       "Deliveries whose inbox ended or was full at the commit."))
{}

awaitable<mailbox::stored_message> writers::store(std::shared_ptr<const mailbox::new_message> message)
{
    auto& its_writer = writer_of(*message);
    const auto mine = std::make_shared<entry>(std::move(message), host_.executor(), settings_.patience);
    its_writer.queue.push_back(mine);
    ++queued_;
    if (!std::exchange(its_writer.is_running, true))
        boost::asio::co_spawn(host_.executor(), run(its_writer), boost::asio::detached);
    const bool is_done = co_await mine->done.wait();
    if (!is_done)
        mine->is_abandoned = true;
    co_return mine->answer;
}

writers::writer& writers::writer_of(const mailbox::new_message& message)
{
    const auto lowest = std::min_element(message.deliveries.begin(), message.deliveries.end(),
                                         [](const auto& a, const auto& b) { return a.inbox < b.inbox; });
    return writers_[std::hash<inbox_id>{}(lowest->inbox) % writers_.size()];
}

writers::entries writers::take_batch(writer& from)
{
    entries batch;
    std::size_t bytes = 0;
    while (!from.queue.empty() && batch.size() < settings_.messages_a_batch) {
        auto& next = from.queue.front();
        if (!batch.empty() && bytes + next->message->frame.size() > settings_.bytes_a_batch)
            break;
        bytes += next->message->frame.size();
        if (!next->is_abandoned)
            batch.push_back(std::move(next));
        from.queue.pop_front();
        --queued_;
    }
    return batch;
}

awaitable<void> writers::run(writer& me)
{
    while (!me.queue.empty()) {
        auto batch = take_batch(me);
        if (!batch.empty())
            co_await commit(std::move(batch));
    }
    me.is_running = false;
}

awaitable<void> writers::commit(entries batch)
{
    mailbox::mail_batch messages;
    for (const auto& one : batch)
        messages.push_back(one->message);
    const auto started = std::chrono::steady_clock::now();
    auto answers = co_await store_.store(std::move(messages));
    commit_seconds_.Observe(std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count());
    batch_messages_.Observe(static_cast<double>(batch.size()));
    for (std::size_t i = 0; i < batch.size(); ++i) {
        batch[i]->answer = std::move(answers[i]);
        batch[i]->done.reach();
    }
    // Behind the sessions that were just woken, beside the next commit.
    boost::asio::post(host_.executor(), [this, stored = std::move(batch)] { publish(stored); });
}

void writers::publish(const entries& batch)
{
    std::vector<outbox::row> events;
    for (const auto& one : batch) {
        if (!one->answer)
            continue;
        for (std::size_t i = 0; i < one->answer->size(); ++i) {
            const auto& answer = (*one->answer)[i];
            const auto& delivery = one->message->deliveries[i];
            if (answer.outcome == mailbox::delivery_outcome::repeated)
                continue;
            if (answer.outcome == mailbox::delivery_outcome::stored) {
                events.push_back(mailbox::mail_store::event_of(delivery, answer.sequence));
                // Its sender was told 451.
                if (one->is_abandoned)
                    unconfirmed_.note({mailbox::email_key{delivery.account, delivery.id}});
                continue;
            }
            left_out_.Increment();
            log::info("inbox ended or was full at the commit", {{"inbox_id", delivery.inbox.text()}});
        }
    }
    if (!events.empty())
        publisher_.publish(std::move(events));
}

} // namespace tempinbox::mail_ingest
