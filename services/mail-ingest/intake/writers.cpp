#include "mail-ingest/intake/writers.hpp"

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

writers::writers(runtime::host& host, mailbox::mail_store& store, outbox::publisher& publisher,
                 unconfirmed_mail& unconfirmed, const writer_settings& chosen)
    : host_(host),
      store_(store),
      publisher_(publisher),
      unconfirmed_(unconfirmed),
      settings_(chosen),
      batch_messages_(host.metrics().histogram("tempinbox_mail_ingest_batch_messages",
                                               "Messages a commit.", batch_buckets)),
      commit_seconds_(host.metrics().histogram("tempinbox_mail_ingest_commit_duration_seconds",
                                               "Time a batch took to commit.",
                                               metrics::latency_buckets())),
      left_out_(host.metrics().counter("tempinbox_mail_ingest_deliveries_left_out_total",
                                       "Deliveries whose inbox ended or was full at the commit, or "
                                       "whose account was deleted before it."))
{}

awaitable<mailbox::stored_message>
writers::store(std::shared_ptr<const mailbox::new_message> message,
               std::shared_ptr<undecided_mail> undecided, steady::time_point deadline)
{
    const auto patience =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady::now());
    const auto mine = std::make_shared<entry>(std::move(message), std::move(undecided),
                                              host_.executor(), patience);
    queue_.push_back(mine);
    begin_if_wanted();
    if (!co_await mine->done.wait()) {
        // Its sender is told 451.
        mine->is_abandoned = true;
        if (mine->undecided)
            mine->undecided->lose_sender();
    }
    co_return mine->answer;
}

bool writers::may_begin() const
{
    if (is_beginning_)
        return false;
    const auto slow_since = steady::now() - settings_.slow_commit;
    return under_way_.empty() ||
           (under_way_.size() < settings_.writers && *under_way_.rbegin() <= slow_since);
}

void writers::begin_if_wanted()
{
    if (!queue_.empty() && may_begin())
        boost::asio::co_spawn(host_.executor(), run(), boost::asio::detached);
}

writers::entries writers::take_batch()
{
    entries batch;
    std::size_t bytes = 0;
    while (!queue_.empty() && batch.size() < settings_.messages_a_batch) {
        auto& next = queue_.front();
        const auto more = next->message->held_bytes();
        if (!batch.empty() && bytes + more > settings_.bytes_a_batch)
            break;
        bytes += more;
        if (!next->is_abandoned)
            batch.push_back(std::move(next));
        queue_.pop_front();
    }
    return batch;
}

awaitable<void> writers::run()
{
    while (!queue_.empty() && may_begin()) {
        // Messages that are complete at this moment come along.
        is_beginning_ = true;
        co_await boost::asio::post(host_.executor(), boost::asio::use_awaitable);
        is_beginning_ = false;
        auto batch = take_batch();
        if (batch.empty())
            continue;
        const auto mine = under_way_.insert(steady::now());
        // Behind a slow commit those that gathered do not wait for its end.
        boost::asio::steady_timer slow(host_.executor(), settings_.slow_commit);
        slow.async_wait([this](const boost::system::error_code& error) {
            if (!error)
                begin_if_wanted();
        });
        co_await commit(std::move(batch));
        under_way_.erase(mine);
    }
}

awaitable<void> writers::commit(entries batch)
{
    mailbox::mail_batch messages;
    for (const auto& one : batch)
        messages.push_back(one->message);
    const auto started = steady::now();
    auto answers = co_await store_.store(std::move(messages));
    commit_seconds_.Observe(std::chrono::duration<double>(steady::now() - started).count());
    batch_messages_.Observe(static_cast<double>(batch.size()));
    for (std::size_t i = 0; i < batch.size(); ++i) {
        batch[i]->answer = std::move(answers[i]);
        if (!batch[i]->is_abandoned)
            batch[i]->undecided.reset();
        batch[i]->done.reach();
    }
    // Behind the sessions that were just woken, beside the next commit.
    boost::asio::post(host_.executor(), [this, stored = std::move(batch)] { publish(stored); });
}

void writers::note_left_out(inbox_id inbox, std::string_view why)
{
    left_out_.Increment();
    log::info(why, {{"inbox_id", inbox.text()}});
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
            if (answer.outcome == mailbox::delivery_outcome::repeated ||
                answer.outcome == mailbox::delivery_outcome::unstorable)
                continue;
            if (answer.outcome == mailbox::delivery_outcome::stored) {
                events.push_back(mailbox::mail_store::event_of(delivery, answer.sequence));
                if (one->undecided)
                    one->undecided->emails.push_back(
                        mailbox::email_key{delivery.account, delivery.id});
                continue;
            }
            note_left_out(delivery.inbox, "inbox ended or was full at the commit");
        }
        if (one->undecided)
            unconfirmed_.note(one->undecided);
    }
    if (!events.empty())
        publisher_.publish(std::move(events));
}

} // namespace tempinbox::mail_ingest
