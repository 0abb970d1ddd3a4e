#pragma once

#include "common/core/awaitable.hpp"
#include "common/outbox/outbox.hpp"
#include "common/postgres/pool.hpp"
#include "common/runtime/host.hpp"
#include "common/tls/certificate.hpp"
#include "mail-ingest/logins/logins.hpp"
#include "mail-ingest/settings.hpp"
#include "mail-ingest/smtp/client_limiter.hpp"
#include "mail-ingest/smtp/session.hpp"

#include <optional>

namespace tempinbox::mail_ingest {

// What sessions with a login have of their own; the rest they share with those of everybody.
class submission
{
public:
    // `mail` is what sessions without a login have. All that is given outlives it.
    submission(const settings& chosen, postgres::pool& look_up_db, outbox::publisher& publisher,
               smtp::session_context& mail);
    submission(const submission&) = delete;

    void start();
    // Once sessions have ended.
    awaitable<void> stop();

    // Without logins where the settings take none.
    smtp::session_context& context() { return context_; }

private:
    smtp::client_limiter client_limiter_; // counts apart, so that neither kind starves the other
    tls::watched_certificate certificate_;
    std::optional<postgres::pool> changes_db_; // one connection, for reading what changed
    std::optional<mail_ingest::logins> logins_;
    smtp::session_context context_;
};

} // namespace tempinbox::mail_ingest
