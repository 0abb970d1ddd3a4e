#pragma once

#include "common/core/awaitable.hpp"
#include "common/runtime/completion_queue.hpp"
#include "mail-ingest/directory/directory.hpp"
#include "mail-ingest/intake/reading.hpp"
#include "mail-ingest/intake/spool.hpp"
#include "mail-ingest/intake/unconfirmed_mail.hpp"
#include "mail-ingest/intake/writers.hpp"

#include <boost/asio/thread_pool.hpp>

namespace tempinbox::mail_ingest {

struct intake_settings
{
    std::string hostname = "localhost";
    int most_hops = 50;
    mime::view_limits view;
    std::size_t memory_bytes = 512 * 1024 * 1024;
    std::size_t memory_bytes_a_message = 256 * 1024;
    std::string spool_directory = "/tmp/tempinbox-mail-ingest";
    std::size_t spool_bytes = std::size_t{2} * 1024 * 1024 * 1024;
    std::size_t readers = 2;
    writer_settings writing;
};

// What became of a message; stored as emails that a repeat can be told from, it is undecided.
struct taken_message
{
    smtp::message_answer answer;
    std::shared_ptr<undecided_mail> undecided;

    taken_message() = default;
    explicit taken_message(smtp::message_status status) : answer(status) {}
};

// From the last byte of a message to the answer: reads it on a worker, has it committed, says what
// became of it. Never throws.
class intake
{
public:
    intake(runtime::host& host, mail_ingest::directory& directory, mailbox::mail_store& store,
           outbox::publisher& publisher, unconfirmed_mail& unconfirmed,
           const intake_settings& chosen);

    std::unique_ptr<spool> open_spool();
    bool is_overloaded() const { return budget_.is_short() || writers_.are_full(); }
    // How large a message may be for which there is room just now, in memory or on the disk.
    std::uint64_t room() const;

    // `from` outlives what is undecided, or that is noted as unconfirmed before.
    awaitable<taken_message> take(smtp::envelope envelope, std::unique_ptr<spool> message,
                                  std::string remote_address, const sender& from);

    // The session ended before its client said anything after the 250.
    void note_unconfirmed(std::shared_ptr<undecided_mail> mail)
    {
        unconfirmed_.note(std::move(mail));
    }

    // Lets its threads end.
    void stop();

private:
    awaitable<taken_message> take_or_throw(smtp::envelope envelope, std::unique_ptr<spool> message,
                                           std::string remote_address, const sender& from);
    struct reading;
    awaitable<std::optional<read_mail>>
    read_on_worker(std::unique_ptr<spool> message, reading_facts facts,
                   std::chrono::steady_clock::time_point deadline);
    void leave_out_deleted_accounts(smtp::envelope& envelope);
    bool is_too_large(const smtp::envelope& envelope, std::uint64_t size);
    taken_message answer_of(const read_mail& mail, const mailbox::stored_message& stored,
                            std::shared_ptr<undecided_mail> undecided);

    runtime::host& host_;
    mail_ingest::directory& directory_;
    unconfirmed_mail& unconfirmed_;
    intake_settings settings_;
    memory_budget budget_;
    spool_folder spool_folder_;
    writers writers_;
    runtime::completion_queue read_done_;
    boost::asio::thread_pool readers_;
    prometheus::Histogram& sizes_;
};

} // namespace tempinbox::mail_ingest
