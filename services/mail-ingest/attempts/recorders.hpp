#pragma once

#include "common/core/awaitable.hpp"
#include "common/postgres/pool.hpp"
#include "common/runtime/host.hpp"
#include "mail-ingest/attempts/attempt_recorder.hpp"
#include "mail-ingest/rejections/rejection_recorder.hpp"
#include "mailbox/ingest_repository.hpp"

namespace tempinbox::mail_ingest {

// What sessions note of senders, behind their replies.
struct recorders
{
    recorders(runtime::host& host, postgres::pool& db, mailbox::ingest_repository& store)
        : rejections(host, store),
          attempts(host, db)
    {}
    recorders(const recorders&) = delete;

    void start()
    {
        rejections.start();
        attempts.start();
    }
    // Once sessions have ended.
    awaitable<void> stop()
    {
        co_await rejections.stop();
        co_await attempts.stop();
    }

    rejection_recorder rejections;
    attempt_recorder attempts;
};

} // namespace tempinbox::mail_ingest
