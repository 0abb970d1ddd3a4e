#pragma once

#include "common/core/awaitable.hpp"
#include "common/outbox/outbox.hpp"
#include "common/runtime/wait_point.hpp"
#include "mail-ingest/ingest/unacknowledged_mail.hpp"
#include "mailbox/mail_store.hpp"

#include <deque>
#include <memory>
#include <set>
#include <vector>

namespace tempinbox::mail_ingest {

struct group_commit_settings
{
    std::size_t max_concurrent_commits = 4;
    std::size_t max_batch_messages = 128;
    std::size_t max_batch_bytes = 8 * 1024 * 1024;
    std::size_t max_queued_messages = 4'096;
    std::chrono::milliseconds timeout{20'000}; // from the end of a message to its answer
    // A commit that lasts longer is slow: the next begins beside it.
    std::chrono::milliseconds slow_commit{20};
};

// Commits messages in groups: at once when no commit is under way, else together with what gathers
// meanwhile. One commit at a time gives the largest groups and so the least work for each message;
// only beside slow ones (a row somebody else has locked, a large batch) another begins, up to
// `writers`. Events are published after their commit, and after whoever waits for it was told.
class group_committer
{
public:
    group_committer(runtime::host& host, mailbox::mail_store& store, outbox::publisher& publisher,
                    unacknowledged_mail& unacknowledged, const group_commit_settings& chosen);

    // No room in the queue.
    bool are_full() const { return queue_.size() >= settings_.max_queued_messages; }
    // Nothing: not stored, or nobody could say by the deadline. `undecided` is held until it is
    // known; none for a message that a repeat could not be told from.
    awaitable<mailbox::stored_message> store(std::shared_ptr<const mailbox::new_message> message,
                                             std::shared_ptr<in_flight_message> in_flight,
                                             std::chrono::steady_clock::time_point deadline);

    // A delivery that is not kept: counted and logged.
    void note_left_out(inbox_id inbox, std::string_view why);

private:
    struct entry
    {
        std::shared_ptr<const mailbox::new_message> message;
        std::shared_ptr<in_flight_message>
            in_flight; // once answered: only of one whose sender was told 451 before
        runtime::wait_point done;
        mailbox::stored_message result;
        bool is_abandoned = false;

        entry(std::shared_ptr<const mailbox::new_message> given,
              std::shared_ptr<in_flight_message> kept, const boost::asio::any_io_executor& executor,
              std::chrono::milliseconds timeout)
            : message(std::move(given)),
              in_flight(std::move(kept)),
              done(executor, timeout)
        {}
    };
    using entries = std::vector<std::shared_ptr<entry>>;

    bool may_begin() const;
    void begin_if_needed();
    entries take_batch();
    awaitable<void> run();
    awaitable<void> commit(entries batch);
    void publish(const entries& batch);

    runtime::host& host_;
    mailbox::mail_store& store_;
    outbox::publisher& publisher_;
    unacknowledged_mail& unacknowledged_;
    group_commit_settings settings_;
    std::deque<std::shared_ptr<entry>> queue_;
    std::multiset<std::chrono::steady_clock::time_point> under_way_; // when each commit began
    bool is_beginning_ = false; // a commit takes its messages next
    prometheus::Histogram& batch_messages_;
    prometheus::Histogram& commit_seconds_;
    prometheus::Counter& left_out_;
};

} // namespace tempinbox::mail_ingest
