#pragma once

#include "common/core/awaitable.hpp"
#include "common/outbox/outbox.hpp"
#include "common/postgres/pool.hpp"
#include "mailbox/rejection.hpp"
#include "mailbox/types.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tempinbox::mailbox {

// One inbox a message goes to. The event lacks only its sequence.
struct new_delivery
{
    account_id account;
    inbox_id inbox;
    email_id id;
    std::vector<std::string> rcpt_to;
    outbox::row event;
};

// A message read and compressed: everything its rows need. One body, and an email and event for
// each inbox.
struct new_message : message_columns
{
    std::string frame; // zstd
    std::vector<new_delivery> deliveries;

    // About how much memory it takes while it waits for its commit: all that can be large.
    std::size_t held_bytes() const;
};

// Repeated: the same message is stored already as the result's `email`, and its sender may not have
// seen the 250. Full_for_now: the inbox's oldest mail is about to go. Unstorable: PostgreSQL
// refuses it, now and later.
enum class delivery_status { stored, repeated, gone, full, full_for_now, unstorable };

struct delivery_result
{
    delivery_status status = delivery_status::gone;
    std::int64_t sequence = 0;
    email_id email;
};

// A result for each delivery; absent if the message was not stored or the outcome is unknown.
using stored_message = std::optional<std::vector<delivery_result>>;

using mail_batch = std::vector<std::shared_ptr<const new_message>>;

struct email_key
{
    account_id account;
    email_id id;
};

// Stores mail, and keeps for ten minutes which emails' senders may not have seen the 250: by those
// mailbox.store_mail recognizes a second delivery of the same message. `store` never throws
// for database errors: the message has no result then. Writes what was not accepted, too. The
// others throw if PostgreSQL cannot be reached.
class ingest_repository
{
public:
    // `db` must be a pool of its own: one connection for each concurrent batch, and one more to
    // resolve lost ones.
    ingest_repository(runtime::host& host, postgres::pool& db, inbox_bounds bounds);

    // One statement, its own transaction, committed when this returns. A deadlock or timeout is
    // retried once. After another SQL error each message is tried alone, and one whose data are at
    // fault (SQLSTATE class 22) is unstorable. After a lost connection the rows are looked for
    // until the outcome is known or 20 s have passed.
    awaitable<std::vector<stored_message>> store(mail_batch batch);

    // Marks emails as unacknowledged. Only those with a Message-ID are kept.
    awaitable<void> mark_unacknowledged(std::vector<email_key> emails);

    // Call this at start. If the last process of that name did not sign off, it crashed: its mail
    // of the minute before is marked.
    awaitable<void> sign_on(std::string replica);
    // Call this every few seconds: shows that this process is alive, marks the last minute's mail
    // of processes silent for 30 s, and purges expired entries.
    awaitable<void> heartbeat(std::string replica);
    // Call this at an orderly end.
    awaitable<void> sign_off(std::string replica);

    // Adds to the rejections of the inboxes that exist or ended less than a day ago; the others are
    // left out. One statement, its own transaction. No two may have the same inbox, reason and
    // sender. Returns how many attempts were dropped, since their inbox has as many rows as it can.
    awaitable<std::int64_t> note_rejections(std::vector<new_rejection> batch);

    // The event to publish for a stored delivery.
    static outbox::row event_of(const new_delivery& delivery, std::int64_t sequence);

private:
    enum class attempt_status { stored, try_again, refused, bad_data, unknown, unavailable };
    using results = std::vector<stored_message>;

    awaitable<attempt_status> attempt(const mail_batch& batch, std::shared_ptr<results> stored);
    awaitable<void> run_statement(const mail_batch& batch, std::shared_ptr<results> stored);
    awaitable<void> resolve(const mail_batch& batch, std::shared_ptr<results> stored);
    awaitable<results> find_stored(const mail_batch& batch);
    void note_unstorable(const new_message& message, std::string_view sqlstate,
                         std::string_view reason);

    runtime::host& host_;
    postgres::pool& db_;
    inbox_bounds bounds_;
    prometheus::Counter& unstorable_;
};

} // namespace tempinbox::mailbox
