#pragma once

#include "common/core/awaitable.hpp"
#include "common/outbox/outbox.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/types.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::mailbox {

// The migration that brings mailbox.store_mail_once.
inline constexpr int mail_schema_version = 4;

// One inbox a message goes to. The event is complete but for its sequence.
struct new_delivery
{
    account_id account;
    inbox_id inbox;
    email_id id;
    std::vector<std::string> rcpt_to;
    outbox::row event;
};

// A message read and compressed: everything its rows need. One body, an email and an event for each
// of its inboxes.
struct new_message
{
    body_id body;
    std::string frame; // zstd
    std::string sha256;
    std::int64_t size = 0;
    time_point received_at;
    std::string from;
    std::string from_name;
    std::string subject;
    std::string preview;
    std::optional<std::string> message_id;
    std::vector<std::string> to_header;
    std::string mail_from;
    std::string remote_address;
    std::string helo;
    std::optional<std::string> tls;
    int attachment_count = 0;
    std::string codes; // JSON
    std::string links; // JSON
    std::vector<std::string> defects;
    std::vector<new_delivery> deliveries;

    // About what it takes in memory while it waits for its commit: all that can be large.
    std::size_t held_bytes() const;
};

// Repeated: its sender may not know that it was stored before, as the email of the answer.
// Unstorable: PostgreSQL takes it neither now nor later.
enum class delivery_status { stored, repeated, gone, full, unstorable };

struct delivery_result
{
    delivery_status status = delivery_status::gone;
    std::int64_t sequence = 0;
    email_id email;
};

// What became of a message: an answer for each of its deliveries, or nothing where it was not
// stored for all that is known.
using stored_message = std::optional<std::vector<delivery_result>>;

using mail_batch = std::vector<std::shared_ptr<const new_message>>;

// Writes mail. Never throws for the database: a message without an answer was not stored, or nobody
// could say in time.
class mail_store
{
public:
    // The pool's own connections: one for each batch under way at once, and one more for what
    // became of lost ones.
    mail_store(runtime::host& host, postgres::pool& db, inbox_bounds bounds);

    // One statement, its own transaction, committed when this returns. A deadlock or a time-out is
    // tried once more; after another SQL error each message is tried alone, and one whose data are
    // at fault (class 22) is unstorable; after a lost connection the rows are looked for until they
    // are seen or 20 s have passed.
    awaitable<std::vector<stored_message>> store(mail_batch batch);

    // The event of a stored delivery, to be published.
    static outbox::row event_of(const new_delivery& delivery, std::int64_t sequence);

private:
    enum class attempt_status { stored, try_again, refused, bad_data, unknown, unavailable };
    using results = std::vector<stored_message>;

    awaitable<attempt_status> attempt(const mail_batch& batch, std::shared_ptr<results> found);
    awaitable<void> run_statement(const mail_batch& batch, std::shared_ptr<results> found);
    awaitable<void> resolve(const mail_batch& batch, std::shared_ptr<results> found);
    awaitable<results> find_stored(const mail_batch& batch);
    void note_unstorable(const new_message& message, std::string_view sqlstate,
                         std::string_view reason);

    runtime::host& host_;
    postgres::pool& db_;
    inbox_bounds bounds_;
    prometheus::Counter& unstorable_;
};

} // namespace tempinbox::mailbox
