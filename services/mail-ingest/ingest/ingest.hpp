#pragma once

#include "common/core/awaitable.hpp"
#include "mail-ingest/ingest/group_committer.hpp"
#include "mail-ingest/ingest/mail_readers.hpp"
#include "mail-ingest/ingest/reading.hpp"
#include "mail-ingest/ingest/spool.hpp"
#include "mail-ingest/ingest/unacknowledged_mail.hpp"
#include "mail-ingest/recipients/recipients.hpp"

#include <utility>
#include <vector>

namespace tempinbox::mail_ingest {

struct ingest_settings
{
    std::string hostname = "localhost";
    int max_hops = 50;
    mime::view_limits view;
    std::size_t memory_bytes = 512 * 1024 * 1024;
    std::size_t memory_bytes_per_message = 256 * 1024;
    std::string spool_directory = "/tmp/tempinbox-mail-ingest";
    std::size_t spool_bytes = std::size_t{2} * 1024 * 1024 * 1024;
    std::size_t readers = 2;
    group_commit_settings group_commit;
};

// What became of a message. If it was stored and has a Message-ID, `in_flight` is set.
struct ingest_result
{
    smtp::message_result result;
    std::shared_ptr<in_flight_message> in_flight;
    std::vector<std::pair<inbox_id, email_id>> emails; // one in each inbox that has it

    ingest_result() = default;
    explicit ingest_result(smtp::message_status status) : result(status) {}
};

// From the last byte of a message to its reply: reads the message, a large one on a thread in its
// client address's turn, commits it, and reports what became of it. Never throws.
class ingest
{
public:
    ingest(runtime::host& host, mail_ingest::recipients& recipients,
           mailbox::ingest_repository& store, outbox::publisher& publisher,
           unacknowledged_mail& unacknowledged, const ingest_settings& chosen);

    std::unique_ptr<spool> open_spool();
    // Not even a small message would fit.
    bool is_overloaded() const
    {
        return budget_.available() < min_message_bytes || group_committer_.are_full();
    }
    // The largest message there is room for at present, in memory or on the disk.
    std::uint64_t available_bytes() const;

    // `from` must outlive the result's `in_flight`, or else note_unacknowledged must come first.
    awaitable<ingest_result> take(smtp::envelope envelope, std::unique_ptr<spool> message,
                                  std::string remote_address, const sender& from);

    // Call this if the session ended before its client sent anything after the 250.
    void note_unacknowledged(std::shared_ptr<in_flight_message> mail)
    {
        unacknowledged_.note(std::move(mail));
    }

    // Joins the worker threads.
    void stop();

private:
    static constexpr std::size_t min_message_bytes = 64 * 1024;

    awaitable<ingest_result> take_or_throw(smtp::envelope envelope, std::unique_ptr<spool> message,
                                           std::string remote_address, const sender& from);
    struct reading;
    awaitable<std::optional<read_mail>>
    read_in_turn(std::unique_ptr<spool> message, reading_facts facts,
                 std::chrono::steady_clock::time_point deadline);
    void leave_out_deleted_accounts(smtp::envelope& envelope);
    bool is_too_large(const smtp::envelope& envelope, std::uint64_t size);
    ingest_result result_of(const read_mail& mail, const mailbox::stored_message& stored,
                            std::shared_ptr<in_flight_message> in_flight);

    runtime::host& host_;
    mail_ingest::recipients& recipients_;
    unacknowledged_mail& unacknowledged_;
    ingest_settings settings_;
    memory_budget budget_;
    spool_folder spool_folder_;
    group_committer group_committer_;
    mail_readers readers_;
    prometheus::Histogram& sizes_;
};

} // namespace tempinbox::mail_ingest
