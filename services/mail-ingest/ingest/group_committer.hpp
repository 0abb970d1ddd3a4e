#pragma once

#include "common/async/batcher.hpp"
#include "common/core/awaitable.hpp"
#include "common/outbox/outbox.hpp"
#include "mail-ingest/ingest/unacknowledged_mail.hpp"
#include "mailbox/ingest_repository.hpp"

#include <memory>
#include <vector>

namespace tempinbox::mail_ingest {

struct group_commit_settings
{
    std::size_t max_concurrent_commits = 4;
    std::size_t max_batch_messages = 128;
    std::size_t max_batch_bytes = 8 * 1024 * 1024;
    std::size_t max_queued_messages = 4'096;
    std::chrono::milliseconds timeout{20'000}; // from the end of a message to its reply
    // A commit that takes longer is slow: the next batch is committed concurrently.
    std::chrono::milliseconds slow_commit{20};
};

// Group commit: a message is committed at once when no commit is under way, else with all that
// queued up meanwhile. One commit at a time gives the largest batches, and so the least work for
// each message. Only while the running ones are slow (a locked row, a large batch) or a whole
// batch is there another begins, up to `max_concurrent_commits`. Events are published after the
// commit, and after the sessions that wait for it were woken.
class group_committer
{
public:
    group_committer(runtime::host& host, mailbox::ingest_repository& store,
                    outbox::publisher& publisher, unacknowledged_mail& unacknowledged,
                    const group_commit_settings& chosen);

    // The queue is full.
    bool are_full() const { return commits_.gathered() >= settings_.max_queued_messages; }
    // Absent: not stored, or the outcome is unknown at the deadline. `in_flight` is held until the
    // outcome is known; null for a message without Message-ID, which dedup cannot recognize.
    // `cause` is the span that the message comes from.
    awaitable<mailbox::stored_message> store(std::shared_ptr<const mailbox::new_message> message,
                                             std::shared_ptr<in_flight_message> in_flight,
                                             std::chrono::steady_clock::time_point deadline,
                                             trace::context cause = {});

    // Counts and logs a delivery that is not stored.
    void note_left_out(inbox_id inbox, std::string_view why);

private:
    struct entry
    {
        std::shared_ptr<const mailbox::new_message> message;
        // Once the commit is answered: kept only if its sender was told 451 before.
        std::shared_ptr<in_flight_message> in_flight;
        trace::context cause;
        bool is_abandoned = false; // its sender was told 451
    };
    using entries = std::vector<std::shared_ptr<entry>>;
    struct held_bytes
    {
        std::size_t operator()(const std::shared_ptr<entry>& one) const
        {
            return one->message->held_bytes();
        }
    };

    awaitable<std::vector<mailbox::stored_message>> commit(entries batch);
    std::vector<trace::span> begin_spans(const entries& batch);
    void publish(const entries& batch, const std::vector<mailbox::stored_message>& results);

    runtime::host& host_;
    mailbox::ingest_repository& store_;
    outbox::publisher& publisher_;
    unacknowledged_mail& unacknowledged_;
    group_commit_settings settings_;
    prometheus::Histogram& batch_messages_;
    prometheus::Histogram& commit_seconds_;
    prometheus::Counter& left_out_;
    async::batcher<std::shared_ptr<entry>, mailbox::stored_message, held_bytes> commits_;
};

} // namespace tempinbox::mail_ingest
