#pragma once

#include "common/core/awaitable.hpp"
#include "common/outbox/outbox.hpp"
#include "mail-ingest/intake/unconfirmed_mail.hpp"
#include "mail-ingest/wait_point.hpp"
#include "mailbox/mail_store.hpp"

#include <deque>
#include <memory>
#include <vector>

namespace tempinbox::mail_ingest {

struct writer_settings
{
    std::size_t writers = 2;
    std::size_t messages_a_batch = 128;
    std::size_t bytes_a_batch = 8 * 1024 * 1024;
    std::size_t queued_messages = 4'096;
    std::chrono::milliseconds patience{20'000};
};

// Commits messages in groups: at once when its writer is idle, else together with what gathers while the commit before is under
// way. An inbox's messages go through one writer, in order. Events are published after their commit, and after whoever waits for
// it was told.
class writers
{
public:
    writers(runtime::host& host, mailbox::mail_store& store, outbox::publisher& publisher, unconfirmed_mail& unconfirmed,
            const writer_settings& chosen);

    // No room in the queues.
    bool are_full() const { return queued_ >= settings_.queued_messages; }
    // Nothing: not stored, or nobody could say in time.
    awaitable<mailbox::stored_message> store(std::shared_ptr<const mailbox::new_message> message);

private:
    struct entry
    {
        std::shared_ptr<const mailbox::new_message> message;
        wait_point done;
        mailbox::stored_message answer;
        bool is_abandoned = false;

        entry(std::shared_ptr<const mailbox::new_message> given, boost::asio::any_io_executor executor,
              std::chrono::milliseconds patience)
            : message(std::move(given)),
              done(std::move(executor), patience)
        {}
    };
    using entries = std::vector<std::shared_ptr<entry>>;

    struct writer
    {
        std::deque<std::shared_ptr<entry>> queue;
        bool is_running = false;
    };

    writer& writer_of(const mailbox::new_message& message);
    entries take_batch(writer& from);
    awaitable<void> run(writer& me);
    awaitable<void> commit(entries batch);
    void publish(const entries& batch);

    runtime::host& host_;
    mailbox::mail_store& store_;
    outbox::publisher& publisher_;
    unconfirmed_mail& unconfirmed_;
    writer_settings settings_;
    std::vector<writer> writers_;
    std::size_t queued_ = 0;
    prometheus::Histogram& batch_messages_;
    prometheus::Histogram& commit_seconds_;
    prometheus::Counter& left_out_;
};

} // namespace tempinbox::mail_ingest
