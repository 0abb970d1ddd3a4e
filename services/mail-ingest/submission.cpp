#include "mail-ingest/submission.hpp"

#include "mail-ingest/smtp/server_certificate.hpp"

namespace tempinbox::mail_ingest {
namespace {

postgres::settings changes_settings(const settings& chosen)
{
    auto changes = chosen.database;
    changes.name = "login_changes";
    changes.connections = 1;
    changes.statement_timeout = chosen.recipients.timeout;
    return changes;
}

// None without listeners that use TLS.
tls::certificate_files certificate_files(const settings& chosen)
{
    tls::certificate_files pair{"submission-tls-certificate-file", {}, {}};
    if (!chosen.takes_logins_by_tls())
        return pair;
    pair.certificate = chosen.submission.certificate_file;
    pair.key = chosen.submission.key_file;
    pair.verified_by = chosen.submission.verified_by;
    return pair;
}

} // namespace

submission::submission(const settings& chosen, postgres::pool& look_up_db,
                       outbox::publisher& publisher, smtp::session_context& mail)
    : client_limiter_(chosen.submission.client_limits),
      certificate_(smtp::watch_certificate(mail.host, certificate_files(chosen))),
      context_{mail.host,       chosen.submission.session,
               mail.recipients, mail.ingest,
               mail.rejections, mail.attempts,
               mail.faults,     mail.clock,
               client_limiter_, certificate_.current,
               mail.metrics}
{
    if (!chosen.takes_logins())
        return;
    changes_db_.emplace(mail.host, changes_settings(chosen));
    logins_.emplace(mail.host, look_up_db, chosen.look_up_connections, *changes_db_, publisher,
                    chosen.submission.logins);
    context_.logins = &*logins_;
}

void submission::start()
{
    if (logins_)
        logins_->start();
}

awaitable<void> submission::stop()
{
    if (logins_)
        co_await logins_->stop();
    if (changes_db_)
        changes_db_->stop();
}

} // namespace tempinbox::mail_ingest
