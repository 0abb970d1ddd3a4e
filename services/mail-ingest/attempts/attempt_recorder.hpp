#pragma once

#include "common/async/periodic_task.hpp"
#include "common/core/awaitable.hpp"
#include "common/core/ids.hpp"
#include "common/postgres/pool.hpp"
#include "common/runtime/host.hpp"
#include "mailbox/attempt_repository.hpp"

#include "tempinbox/mailbox/v1/attempts.pb.h"

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tempinbox::mail_ingest {

// Of what waits. An account has at most as much as is free, half of it alone and less beside
// others: however many accounts have their share, one that has nothing here finds room.
struct attempt_bounds
{
    std::size_t rows = 5'000; // that wait
    std::size_t rows_per_inbox = mailbox::attempt_repository::max_attempts;
    std::size_t bytes = 8 * 1024 * 1024;
};

// Records what senders did with inboxes, behind their replies: keeps it in memory, and writes about
// twice a second what there is, in batches. No reply waits for it: if PostgreSQL is away rows wait,
// and what does not fit is counted and dropped. A crash loses what memory held. On the loop.
class attempt_recorder
{
public:
    attempt_recorder(runtime::host& host, postgres::pool& db, attempt_bounds bounds = {});

    void start() { task_.start(); }
    // Writes what is pending, once.
    awaitable<void> stop();

    // Its name; absent if there was no room for it.
    std::optional<mailbox::attempt_key> note(account_id account, inbox_id inbox,
                                             mailbox::v1::Attempt what);
    // How the session ended whose last attempt it was.
    void note_end(const mailbox::attempt_key& last, mailbox::session_end how);

private:
    struct share
    {
        std::size_t rows = 0;
        std::size_t bytes = 0;
    };

    awaitable<std::chrono::microseconds> tick();
    awaitable<void> write(std::size_t max);
    void take(std::size_t max);
    // Inboxes that got many attempts since the last time.
    std::vector<std::pair<account_id, inbox_id>> take_full();
    bool has_room(account_id account, inbox_id inbox, std::size_t bytes) const;

    runtime::host& host_;
    mailbox::attempt_repository store_;
    attempt_bounds bounds_;
    prometheus::Counter& dropped_;
    std::map<uuid, mailbox::new_attempt> pending_; // in the order of their ends
    std::unordered_map<inbox_id, std::size_t> pending_of_;
    std::unordered_map<account_id, share> share_of_;
    std::size_t pending_bytes_ = 0;
    std::vector<mailbox::ended_session> ends_; // of those that were taken to be written
    // Those of a write that failed are still here at the next one.
    std::vector<mailbox::new_attempt> in_write_;
    std::vector<mailbox::ended_session> ends_in_write_;
    std::map<std::pair<account_id, inbox_id>, std::size_t> untrimmed_; // attempts since a trim
    async::periodic_task task_;
};

} // namespace tempinbox::mail_ingest
