#pragma once

#include "common/core/awaitable.hpp"
#include "common/outbox/outbox.hpp"
#include "common/runtime/wait_point.hpp"
#include "mail-ingest/intake/unconfirmed_mail.hpp"
#include "mailbox/mail_store.hpp"

#include <deque>
#include <memory>
#include <set>
#include <vector>

namespace tempinbox::mail_ingest {

struct writer_settings
{
    std::size_t writers = 4;
    std::size_t messages_a_batch = 128;
    std::size_t bytes_a_batch = 8 * 1024 * 1024;
    std::size_t queued_messages = 4'096;
    std::chrono::milliseconds patience{20'000}; // from the end of a message to its answer
    // A commit that lasts longer is slow: the next begins beside it.
    std::chrono::milliseconds slow_commit{20};
};

// Commits messages in groups: at once when no commit is under way, else together with what gathers
// meanwhile. One commit at a time gives the largest groups and so the least work for each message;
// only beside slow ones (a row somebody else has locked, a large batch) another begins, up to
// `writers`. Events are published after their commit, and after whoever waits for it was told.
class writers
{
public:
    writers(runtime::host& host, mailbox::mail_store& store, outbox::publisher& publisher,
            unconfirmed_mail& unconfirmed, const writer_settings& chosen);

    // No room in the queue.
    bool are_full() const { return queue_.size() >= settings_.queued_messages; }
    // Nothing: not stored, or nobody could say by the deadline. `undecided` is held until it is
    // known; none for a message that a repeat could not be told from.
    awaitable<mailbox::stored_message> store(std::shared_ptr<const mailbox::new_message> message,
                                             std::shared_ptr<undecided_mail> undecided,
                                             std::chrono::steady_clock::time_point deadline);

    // A delivery that is not kept: counted and logged.
    void note_left_out(inbox_id inbox, std::string_view why);

private:
    struct entry
    {
        std::shared_ptr<const mailbox::new_message> message;
        std::shared_ptr<undecided_mail>
            undecided; // once answered: only of one whose sender was told 451 before
        runtime::wait_point done;
        mailbox::stored_message answer;
        bool is_abandoned = false;

        entry(std::shared_ptr<const mailbox::new_message> given,
              std::shared_ptr<undecided_mail> kept, const boost::asio::any_io_executor& executor,
              std::chrono::milliseconds patience)
            : message(std::move(given)),
              undecided(std::move(kept)),
              done(executor, patience)
        {}
    };
    using entries = std::vector<std::shared_ptr<entry>>;

    bool may_begin() const;
    void begin_if_wanted();
    entries take_batch();
    awaitable<void> run();
    awaitable<void> commit(entries batch);
    void publish(const entries& batch);

    runtime::host& host_;
    mailbox::mail_store& store_;
    outbox::publisher& publisher_;
    unconfirmed_mail& unconfirmed_;
    writer_settings settings_;
    std::deque<std::shared_ptr<entry>> queue_;
    std::multiset<std::chrono::steady_clock::time_point> under_way_; // when each commit began
    bool is_beginning_ = false; // a commit takes its messages next
    prometheus::Histogram& batch_messages_;
    prometheus::Histogram& commit_seconds_;
    prometheus::Counter& left_out_;
};

} // namespace tempinbox::mail_ingest
