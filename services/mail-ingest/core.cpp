#include "mail-ingest/core.hpp"

#include "mailbox/inbox_state_rows.hpp"

#include <boost/asio/ssl/context.hpp>

#include <openssl/ssl.h>

#include <vector>

namespace tempinbox::mail_ingest {
namespace {

postgres::settings look_up_settings(const settings& chosen)
{
    auto look_ups = chosen.database;
    look_ups.name = "lookups";
    look_ups.connections = chosen.look_up_connections;
    look_ups.statement_timeout = chosen.recipients.timeout;
    return look_ups;
}

void prefer_own_ciphers(boost::asio::ssl::context& context)
{
    SSL_CTX_set_options(context.native_handle(), SSL_OP_CIPHER_SERVER_PREFERENCE);
}

postgres::settings login_changes_settings(const settings& chosen)
{
    auto changes = chosen.database;
    changes.name = "login_changes";
    changes.connections = 1;
    changes.statement_timeout = chosen.recipients.timeout;
    return changes;
}

// Empty without files: TLS is not offered then.
tls::watched_certificate watch_certificate(runtime::host& host, const std::string& certificate_file,
                                           const std::string& key_file)
{
    if (certificate_file.empty())
        return {};
    return tls::watch_certificate(host.files(), host.metrics(), certificate_file, key_file,
                                  prefer_own_ciphers);
}

std::vector<smtp::listening_port> ports_of(const settings& chosen, smtp::session_context& mail,
                                           smtp::session_context& submission)
{
    using smtp::port_kind;
    return {
        {"smtp", port_kind::mail, &mail, chosen.smtp_listen, false, {}},
        {"smtp_proxy", port_kind::mail, &mail, chosen.proxy.listen, true, {}},
        {"submission", port_kind::submission, &submission, chosen.submission.listen, false, {}},
        {"submission_proxy",
         port_kind::submission,
         &submission,
         chosen.proxy.submission_listen,
         true,
         {}},
        {"submissions",
         port_kind::submissions,
         &submission,
         chosen.submission.tls_listen,
         false,
         {}},
        {"submissions_proxy",
         port_kind::submissions,
         &submission,
         chosen.proxy.submissions_listen,
         true,
         {}},
        {"submission_clear", port_kind::submission_clear, &submission,
         chosen.submission.clear_listen, false, chosen.submission.clear_networks},
    };
}

} // namespace

core::core(runtime::host& host, const settings& chosen, const clock_source& clock,
           std::string replica)
    : db(host, chosen.database),
      look_up_db(host, look_up_settings(chosen)),
      producer(host, chosen.kafka),
      publisher(host, db, producer, mailbox::schema,
                mailbox::remover_of_published(host.instance())),
      store(host, db, chosen.recipients.inbox_bounds),
      unacknowledged(host, store, std::move(replica)),
      rejections(host, store),
      recipients(host, look_up_db, chosen.recipients),
      ingest(host, recipients, store, publisher, unacknowledged, chosen.ingest),
      clock_watch(host, db, clock),
      database_watch(host, {look_up_db, db}),
      client_limiter(chosen.client_limits),
      submission_limiter(chosen.submission.client_limits),
      certificate(watch_certificate(host, chosen.tls_certificate_file, chosen.tls_key_file)),
      submission_certificate(chosen.takes_logins()
                                 ? watch_certificate(host, chosen.submission.certificate_file,
                                                     chosen.submission.key_file)
                                 : tls::watched_certificate()),
      session_metrics(host.metrics()),
      session_context{host,        chosen.session, recipients,          ingest,         rejections,
                      clock_watch, client_limiter, certificate.current, session_metrics},
      submission_context{host,
                         chosen.submission.session,
                         recipients,
                         ingest,
                         rejections,
                         clock_watch,
                         submission_limiter,
                         submission_certificate.current,
                         session_metrics},
      listener(host, session_metrics, ports_of(chosen, session_context, submission_context),
               chosen.proxy, database_watch)
{
    if (chosen.takes_logins()) {
        login_changes_db.emplace(host, login_changes_settings(chosen));
        logins.emplace(host, look_up_db, chosen.look_up_connections, *login_changes_db,
                       chosen.submission.logins);
        submission_context.logins = &*logins;
    }
    db.require_schema(mailbox::schema, mailbox::schema_version);
}

void core::start()
{
    publisher.start();
    unacknowledged.start();
    rejections.start();
    clock_watch.start();
    database_watch.start();
    if (logins)
        logins->start();
    listener.start();
}

awaitable<void> core::stop(std::chrono::milliseconds timeout)
{
    co_await database_watch.stop();
    co_await clock_watch.stop();
    co_await unacknowledged.stop();
    co_await rejections.stop();
    if (logins)
        co_await logins->stop();
    co_await publisher.drain(timeout);
    co_await producer.flush(timeout);
    ingest.stop();
    if (login_changes_db)
        login_changes_db->stop();
    look_up_db.stop();
    db.stop();
}

} // namespace tempinbox::mail_ingest
