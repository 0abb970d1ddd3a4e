#pragma once

#include "common/async/periodic_task.hpp"
#include "common/core/awaitable.hpp"
#include "common/runtime/host.hpp"
#include "mail-ingest/rejections/rejection_sums.hpp"
#include "mailbox/ingest_repository.hpp"

#include <chrono>
#include <string_view>
#include <vector>

namespace tempinbox::mail_ingest {

// Records mail that was refused for an inbox, so that its owner can see why it did not arrive.
// Sums in memory, and writes about once a second what there is, as one batch. No SMTP reply waits
// for it: if PostgreSQL is away the rows wait in memory, and what does not fit there is counted. A
// crash loses what memory held.
class rejection_recorder
{
public:
    rejection_recorder(runtime::host& host, mailbox::ingest_repository& store);

    void start() { task_.start(); }
    // Writes what is pending, once.
    awaitable<void> stop();

    // `reply` is what the sender was told.
    void note(account_id account, inbox_id inbox, mailbox::rejection_reason reason,
              std::string_view mail_from, std::string_view reply);

private:
    awaitable<std::chrono::microseconds> tick();
    awaitable<void> write(std::size_t max);

    runtime::host& host_;
    mailbox::ingest_repository& store_;
    prometheus::Counter& dropped_;
    rejection_sums sums_;
    // Taken from the sums. Those of a write that failed are still here at the next one.
    std::vector<mailbox::new_rejection> in_write_;
    async::periodic_task task_;
};

} // namespace tempinbox::mail_ingest
